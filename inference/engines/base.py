"""What every engine offers the pipeline, and the values that it is built from."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from inference.events import EngineEvent
from inference.messages import GenerationRequest


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. Each phase has its own clock: a slow first token is not a stalled stream."""

    connect_s: float = 3.0
    first_token_s: float = 30.0
    between_tokens_s: float = 20.0
    total_s: float = 300.0


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """Where an engine answers. `api_key` is the value, read from the environment by the caller, never logged."""

    base_url: str
    model: str
    api_key: str = ""
    timeouts: Timeouts = Timeouts()

    def __repr__(self) -> str:
        return f"EngineAddress(base_url={self.base_url!r}, model={self.model!r})"


class Engine(Protocol):
    """A streaming chat model.

    `stream` yields TextDelta... then exactly one Completed, or raises an EngineError. Closing the generator
    (`aclose`) closes the HTTP stream, which is what makes vLLM and the providers stop generating: the caller must
    close it, or exhaust it. One instance serves many streams at once.
    """

    def stream(self, request: GenerationRequest) -> AsyncGenerator[EngineEvent, None]: ...

    async def aclose(self) -> None: ...
