"""What the pipeline needs from the world, as Protocols: it runs against fakes as well as against the real parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from chatapp.turns.events import Source
from chatapp.turns.trace import CachedFrom
from inference.engines.base import Engine
from inference.messages import ChatMessage
from routing.policy import RouteDecision

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One question, authorised and saved. `history` is the path to it, oldest first."""

    turn_id: UUID
    user_id: int
    question: str
    history: tuple[ChatMessage, ...]
    context_digest: str
    use_cache: bool


@dataclass(frozen=True, slots=True)
class CacheOutcome:
    """status: hit, miss, refused (a near one was not the same question), off or error."""

    status: str
    similarity: float | None = None
    hit: CachedFrom | None = None


@dataclass(frozen=True, slots=True)
class RouteEngine:
    """A route ready to be streamed from, with the settings an admin gave it."""

    name: str
    source: Source
    engine: Engine
    model: str
    system_prompt: str
    # None: the engine's own.
    temperature: float | None
    max_tokens: int
    # What the model can take in, answer included, in tokens.
    context_tokens: int


class EmbedderPort(Protocol):
    async def embed(self, text: str) -> Vector: ...


class AnswerCachePort(Protocol):
    async def find_answer(self, request: TurnRequest, embedding: Vector) -> CacheOutcome: ...


class RouterPort(Protocol):
    def decide(self, request: TurnRequest, embedding: Vector | None) -> RouteDecision:
        """Raises routing.errors.NoRouteAvailable."""
        ...


class EnginesPort(Protocol):
    def get_route(self, name: str) -> RouteEngine: ...

    def is_warming_up(self, name: str) -> bool:
        """Whether the engine behind the route is on its way up, so that waiting makes sense."""
        ...

    async def wait_until_up(self, name: str) -> None:
        """Returns once the engine answers; raises EngineUnreachable when it gave up or took too long."""
        ...


@dataclass(frozen=True, slots=True)
class TurnPorts:
    embedder: EmbedderPort
    cache: AnswerCachePort
    router: RouterPort
    engines: EnginesPort
    # Tokens of history at most, whatever the model could take; None leaves it to the model's context.
    history_budget_tokens: int | None
    answer_max_bytes: int
