"""Stand-ins for the ports of a turn, for tests of the pipeline: no database, no model, no clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

import numpy as np

from chatapp.turns.ports import CacheOutcome, RouteEngine, TurnPorts, TurnRequest, Vector
from inference.errors import EngineUnreachable
from inference.fakes import FakeEmbedder, ScriptedEngine
from routing.errors import NoRouteAvailable
from routing.policy import RouteDecision


def make_request(question: str = "What is the capital of France?", *, use_cache: bool = True) -> TurnRequest:
    return TurnRequest(uuid4(), user_id=1, question=question, history=(), context_digest="", use_cache=use_cache)


@dataclass
class FakeAsyncEmbedder:
    async def embed(self, text: str) -> Vector:
        return np.asarray(FakeEmbedder().embed(text))


@dataclass
class FakeCache:
    """Answers every lookup with `outcome` and remembers what was looked for."""

    outcome: CacheOutcome = field(default_factory=lambda: CacheOutcome("miss"))
    lookups: list[TurnRequest] = field(default_factory=list)

    async def find_answer(self, request: TurnRequest, embedding: Vector) -> CacheOutcome:
        self.lookups.append(request)
        return self.outcome


@dataclass
class FakeRoutes:
    """Router and engines in one: the first engine is decided on, the others are its fallbacks, in order."""

    engines: dict[str, ScriptedEngine] = field(default_factory=dict)
    warming_up: set[str] = field(default_factory=set)
    # Raised by `wait_until_up` instead of the engine coming up.
    gives_up: bool = False
    waited_for: list[str] = field(default_factory=list)
    system_prompt: str = ""
    context_tokens: int = 4_096

    def decide(self, request: TurnRequest, embedding: Vector | None) -> RouteDecision:
        if not self.engines:
            raise NoRouteAvailable(())
        first, *others = self.engines
        return RouteDecision(
            route=first,
            tier="local" if first == "local" else "flagship",
            score=0.9,
            threshold=0.5,
            rule="",
            reason="Scripted.",
            policy_version=1,
            scorer="fake",
            fallbacks=tuple(others),
        )

    def get_route(self, name: str) -> RouteEngine:
        return RouteEngine(
            name=name,
            source="local" if name == "local" else "flagship",
            engine=self.engines[name],
            model=f"{name}-model",
            system_prompt=self.system_prompt,
            temperature=0.0,
            max_tokens=100,
            context_tokens=self.context_tokens,
        )

    def is_warming_up(self, name: str) -> bool:
        return name in self.warming_up

    async def wait_until_up(self, name: str) -> None:
        self.waited_for.append(name)
        if self.gives_up:
            raise EngineUnreachable("it gave up")
        self.warming_up.discard(name)


def make_ports(routes: FakeRoutes, *, cache: FakeCache | None = None, answer_max_bytes: int = 1_000_000) -> TurnPorts:
    return TurnPorts(
        embedder=FakeAsyncEmbedder(),
        cache=cache or FakeCache(),
        router=routes,
        engines=routes,
        history_budget_tokens=None,
        answer_max_bytes=answer_max_bytes,
    )
