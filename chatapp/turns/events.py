"""What a turn says while it runs: any number of Waiting, Routed and Delta, then exactly one ending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inference.events import FinishReason

Source = Literal["cache", "local", "flagship", "none"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """The chosen engine cannot answer yet; the turn goes on by itself."""

    code: str


@dataclass(frozen=True, slots=True)
class Routed:
    """Who answers. Said again, before the first Delta, when another engine takes over."""

    source: Source
    route: str
    model: str


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer: whole code points, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The engine ended by itself, or the cache answered."""

    finish_reason: FinishReason


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person stopped it; what was said so far is kept."""


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer, or not a whole one. `code` is stable; docs/protocol.md lists them."""

    code: str


Ending = Finished | Stopped | Failed
TurnEvent = Waiting | Routed | Delta | Ending
