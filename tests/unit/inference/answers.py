"""Asking an engine in a test, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from inference.engines.base import Engine
from inference.events import Completed, EngineEvent, TextDelta
from inference.messages import ChatMessage, GenerationRequest

QUESTION = "What is behind the secret door?"


@dataclass(frozen=True, slots=True)
class Answer:
    deltas: tuple[str, ...]
    completed: Completed

    @property
    def text(self) -> str:
        return "".join(self.deltas)


def make_request(**values: object) -> GenerationRequest:
    messages = (
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Hello"),
        ChatMessage("assistant", "Hello!"),
        ChatMessage("user", QUESTION),
    )
    return GenerationRequest(**{"messages": messages, "max_tokens": 64, **values})


async def ask(engine: Engine, request: GenerationRequest | None = None) -> Answer:
    """Everything up to the Completed, which must be the last."""
    events = [event async for event in engine.stream(request or make_request())]
    *deltas, completed = events
    assert isinstance(completed, Completed)
    assert all(isinstance(delta, TextDelta) for delta in deltas)
    return Answer(tuple(delta.text for delta in deltas), completed)


async def collect(engine: Engine, events: list[EngineEvent]) -> None:
    """Keeps in `events` what came before the stream raised."""
    async for event in engine.stream(make_request()):
        events.append(event)
