"""The router and the engines of one turn, under the policy and the routes that were in force when it began."""

from __future__ import annotations

import os
from dataclasses import dataclass

from chatapp.turns.engine_monitor import EngineMonitor
from chatapp.turns.engine_pool import EnginePool
from chatapp.turns.ports import RouteEngine, TurnRequest, Vector
from inference.engines.base import EngineAddress, Timeouts
from routing.features import extract_features
from routing.policy import RouteDecision, RouteOption, decide
from routing.scorers import FeatureScorer
from routing.store import RouteSettings, RoutingSnapshot


@dataclass(frozen=True, slots=True)
class EngineDefaults:
    """What a route that names no address or model of its own uses; from the environment."""

    local_url: str
    local_model: str
    openai_url: str
    anthropic_url: str
    flagship_model: str
    total_max_s: float

    def url_of(self, route: RouteSettings) -> str:
        if route.base_url:
            return route.base_url
        return {"vllm": self.local_url, "openai": self.openai_url, "anthropic": self.anthropic_url}[route.kind]

    def model_of(self, route: RouteSettings) -> str:
        return route.model or (self.local_model if route.kind == "vllm" else self.flagship_model)

    def address_of(self, route: RouteSettings) -> EngineAddress:
        return EngineAddress(
            base_url=self.url_of(route),
            model=self.model_of(route),
            api_key=os.environ.get(route.api_key_env, "") if route.api_key_env else "",
            timeouts=Timeouts(
                connect_s=route.connect_timeout_s,
                first_token_s=route.first_token_timeout_s,
                between_tokens_s=route.between_tokens_timeout_s,
                total_s=min(route.total_timeout_s, self.total_max_s),
            ),
        )


class RoutePorts:
    """Both ports in one, since both look at the same routes: `decide` for RouterPort, the rest for EnginesPort."""

    def __init__(
        self,
        snapshot: RoutingSnapshot,
        *,
        defaults: EngineDefaults,
        pool: EnginePool,
        monitor: EngineMonitor,
        scorer: FeatureScorer,
    ) -> None:
        self._snapshot = snapshot
        self._defaults = defaults
        self._pool = pool
        self._monitor = monitor
        self._scorer = scorer
        self._routes = {route.name: route for route in snapshot.routes}

    def decide(self, request: TurnRequest, embedding: Vector | None) -> RouteDecision:
        features = extract_features(request.question, history_length=len(request.history))
        return decide(
            self._snapshot.policy,
            self._options(),
            features,
            self._scorer.score(features),
            scorer=self._scorer.name,
            question=request.question,
        )

    def get_route(self, name: str) -> RouteEngine:
        route = self._routes[name]
        address = self._defaults.address_of(route)
        return RouteEngine(
            name=route.name,
            source="local" if route.tier == "local" else "flagship",
            engine=self._pool.get_engine(route.kind, address),
            model=address.model,
            system_prompt=route.system_prompt,
            temperature=route.temperature,
            max_tokens=route.max_tokens,
            context_tokens=route.context_tokens,
        )

    def is_warming_up(self, name: str) -> bool:
        return self._is_watched(self._routes[name]) and self._monitor.state.state == "loading"

    async def wait_until_up(self, name: str) -> None:
        await self._monitor.wait_until_up()

    def _options(self) -> tuple[RouteOption, ...]:
        """Waiting for a loading engine is right only when nobody else could answer."""
        missing = {route.name: self._why_not_ready(route) for route in self._snapshot.routes}
        answers_now = any(
            route.enabled and not missing[route.name] and not self.is_warming_up(route.name)
            for route in self._snapshot.routes
        )
        return tuple(
            self._as_option(route, missing[route.name], answers_now=answers_now) for route in self._snapshot.routes
        )

    def _as_option(self, route: RouteSettings, missing: str, *, answers_now: bool) -> RouteOption:
        if not missing and answers_now and self.is_warming_up(route.name):
            missing = "The local model is still loading."
        return RouteOption(
            name=route.name, tier=route.tier, enabled=route.enabled, ready=not missing, why_not_ready=missing
        )

    def _why_not_ready(self, route: RouteSettings) -> str:
        if route.api_key_env and not os.environ.get(route.api_key_env):
            return f"{route.api_key_env} is not set."
        if not self._defaults.url_of(route):
            return "There is no local model here."
        if not self._defaults.model_of(route):
            return "It names no model, and FLAGSHIP_MODEL is not set."
        if self._is_watched(route) and self._monitor.state.state in {"down", "off"}:
            return self._monitor.state.message or "The local model does not answer."
        return ""

    def _is_watched(self, route: RouteSettings) -> bool:
        """The monitor knows the engine of LOCAL_ENGINE_URL; a route with an address of its own is simply tried."""
        return route.kind == "vllm" and self._defaults.url_of(route) == self._defaults.local_url
