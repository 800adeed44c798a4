"""What an engine says while it answers: text deltas, then exactly one Completed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer: whole code points, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the engine counted them; None where it does not say."""

    prompt_tokens: int | None = None
    # The share of prompt_tokens that was read from the engine's or the provider's prefix cache.
    cached_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """The engine ended by itself. `stop` is only reported when the engine said so."""

    finish_reason: FinishReason
    usage: Usage = Usage()


EngineEvent = TextDelta | Completed
