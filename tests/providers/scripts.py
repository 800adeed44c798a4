"""What the stand-in is told to do: one script a model name, and what it then saw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from typing import Any

# The model whose deltas carry the time they were sent at, for benchmarks.
BENCH_MODEL = "bench"


@dataclass(frozen=True, slots=True)
class Script:
    """Times are seconds; `*_after` count deltas that were sent before it happens, None is never."""

    text: str = "Hello! I am a stand-in for a large model."
    # Deltas sent before the end; None sends `text` once, word by word.
    deltas: int | None = None
    first_token_delay_s: float = 0.0
    token_delay_s: float = 0.0
    # Each delta is " t<time.monotonic_ns() at sending>".
    stamped: bool = False
    # Without an end; the client has to close.
    endless: bool = False
    # An answer with this status instead of a stream, with `retry_after` as its header.
    fail_status: int | None = None
    retry_after: str | None = None
    stall_after: int | None = None
    error_after: int | None = None
    malformed_after: int | None = None
    cut_after: int | None = None
    # The stream ends, but does not say why.
    without_end: bool = False
    # Chunks of this many bytes, whatever they cut through: events, lines, code points.
    chunk_bytes: int | None = None
    # A comment or ping, and an empty delta, before each delta.
    noisy: bool = False
    # In the words of the protocol that is spoken; None is its word for a natural end.
    finish_reason: str | None = None
    cached_tokens: int = 0
    # A recorded answer, sent as it is with `fail_status` or 200.
    recording: str | None = None

    def texts(self) -> Iterator[str | None]:
        """The texts of the deltas; None where it is the stamp of the moment."""
        words = [None] if self.stamped else re.findall(r"\s*\S+", self.text)
        if self.endless:
            return cycle(words)
        return islice(cycle(words), len(words) if self.deltas is None else self.deltas)


BENCH_SCRIPT = Script(stamped=True, deltas=100, token_delay_s=0.02)


@dataclass(slots=True)
class Seen:
    """One request as it arrived. Times are time.monotonic_ns(), one clock for all processes of a machine."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    received_ns: int
    # Two requests from one port came over one connection.
    client_port: int
    sent_ns: list[int] = field(default_factory=list)
    # When the client closed the stream before its end.
    closed_by_client_ns: int | None = None
    is_finished: bool = False


class ScriptBook:
    """Scripts by model name, and the log."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}
        self.log: list[Seen] = []
        self.reset()

    def reset(self) -> None:
        self.log = []
        self._scripts = {BENCH_MODEL: BENCH_SCRIPT}

    def set_script(self, values: dict[str, Any]) -> None:
        """`values` are fields of Script, with `model` for one model only; raises TypeError for an unknown field."""
        fields = {name: value for name, value in values.items() if name != "model"}
        self._scripts[values.get("model", "*")] = Script(**fields)

    def get_script(self, model: str) -> Script:
        return self._scripts.get(model) or self._scripts.get("*") or Script()

    def log_as_json(self) -> list[dict[str, Any]]:
        return [asdict(seen) for seen in self.log]
