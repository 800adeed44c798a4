"""What is known of a turn so far, filled in by the pipeline; however it ends, badge and log are made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chatapp.turns.events import Source
from chatapp.turns.stopwatch import Stopwatch
from inference.events import Usage
from routing.policy import RouteDecision


@dataclass(frozen=True, slots=True)
class CachedFrom:
    """The earlier answer that was served."""

    entry_id: str
    question: str
    answer: str
    similarity: float
    answered_at: datetime
    scope: str


@dataclass(slots=True)
class TurnTrace:
    """Mutable on purpose: a stopped or failed turn leaves what it knew."""

    stopwatch: Stopwatch
    source: Source = "none"
    route: str = ""
    model: str = ""
    decision: RouteDecision | None = None
    embedding: object | None = None
    cache_status: str = "off"
    cache_similarity: float | None = None
    cached: CachedFrom | None = None
    usage: Usage = field(default_factory=Usage)
    tokens_before_compress: int | None = None
    tokens_after_compress: int | None = None
    fallbacks: int = 0
    ttft_ms: float | None = None
    total_ms: float | None = None
    stop_ms: float | None = None
    parts: list[str] = field(default_factory=list)
    answer_bytes: int = 0
    # Milliseconds since the question for each delta: the gaps between tokens are made of it.
    delta_marks_ms: list[float] = field(default_factory=list)

    @property
    def answer(self) -> str:
        return "".join(self.parts)

    def note_delta(self, text: str) -> None:
        now_ms = self.stopwatch.elapsed_ms()
        if self.ttft_ms is None:
            self.ttft_ms = now_ms
        self.delta_marks_ms.append(now_ms)
        self.parts.append(text)
        self.answer_bytes += len(text.encode())

    @property
    def tokens_per_s(self) -> float | None:
        """Completion tokens after the first, over the time after the first; None where either is unknown."""
        tokens = self.usage.completion_tokens
        if tokens is None or tokens < 2 or len(self.delta_marks_ms) < 2:
            return None
        span_s = (self.delta_marks_ms[-1] - self.delta_marks_ms[0]) / 1_000
        return (tokens - 1) / span_s if span_s > 0 else None
