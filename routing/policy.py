"""Decides which route answers, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routing.errors import NoRouteAvailable
from routing.features import Features
from routing.rules import Rule, Tier

NAMES: dict[Tier, str] = {"local": "local model", "flagship": "flagship"}


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of what an admin set. A question goes to the local model when its score is at least `threshold`."""

    version: int
    threshold: float
    rules: tuple[Rule, ...] = ()
    routing_enabled: bool = True
    fallback_enabled: bool = True
    # Names of routes, best first: the order within a tier, and of the routes tried after the first.
    fallback_order: tuple[str, ...] = ()
    cache_enabled: bool = True
    cache_min_similarity: float = 0.92
    cache_ttl_days: int = 30
    compression_enabled: bool = True
    # Tokens of history at most; None leaves it to the model's context.
    history_budget_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RouteOption:
    """A route as it stands now. `why_not_ready` is a sentence, blank when it is ready."""

    name: str
    tier: Tier
    enabled: bool
    ready: bool
    why_not_ready: str = ""

    @property
    def is_usable(self) -> bool:
        return self.enabled and self.ready

    @property
    def why_not_usable(self) -> str:
        return f"{self.name}: {self.why_not_ready}" if self.enabled else f"{self.name} is disabled."


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """Stored with the turn. `rule` is blank when the score decided; `reason` is a sentence for a person."""

    route: str
    tier: Tier
    score: float
    threshold: float
    rule: str
    reason: str
    policy_version: int
    scorer: str
    # What to try next, in order, if the route fails before its first token.
    fallbacks: tuple[str, ...]


def decide(
    policy: Policy, routes: Sequence[RouteOption], features: Features, score: float, *, scorer: str, question: str
) -> RouteDecision:
    """Raises NoRouteAvailable. `score` is the probability that the local answer is good enough, by `scorer`."""
    usable = sorted((route for route in routes if route.is_usable), key=lambda route: _rank(policy, route.name))
    if not usable:
        raise NoRouteAvailable(tuple(route.why_not_usable for route in routes))
    wanted, rule, reason = _want(policy, features, score, question)
    of_wanted = [route for route in usable if route.tier == wanted]
    chosen = (of_wanted or usable)[0]
    if not of_wanted:
        rule, reason = "", _why_other(wanted, routes, chosen)
    elif not rule and policy.routing_enabled and not any(route.tier == "flagship" for route in usable):
        reason = _why_other("flagship", routes, chosen)
    others = tuple(route.name for route in usable if route is not chosen)
    return RouteDecision(
        route=chosen.name,
        tier=chosen.tier,
        score=score,
        threshold=policy.threshold,
        rule=rule,
        reason=reason,
        policy_version=policy.version,
        scorer=scorer,
        fallbacks=others if policy.fallback_enabled else (),
    )


def _rank(policy: Policy, name: str) -> int:
    return policy.fallback_order.index(name) if name in policy.fallback_order else len(policy.fallback_order)


def _want(policy: Policy, features: Features, score: float, question: str) -> tuple[Tier, str, str]:
    """The tier that should answer, the rule that said so if one did, and the reason."""
    if not policy.routing_enabled:
        return "local", "", "Routing is switched off: everything goes to the local model."
    for number, rule in enumerate(policy.rules, start=1):
        if rule.matches(question, features):
            return rule.tier, str(rule), f"Rule {number} ({rule}) sends this to the {NAMES[rule.tier]}."
    told = f"Scored {score:.2f}, "
    if score >= policy.threshold:
        return "local", "", f"{told}at least the threshold of {policy.threshold:.2f}: easy enough for the local model."
    return "flagship", "", f"{told}below the threshold of {policy.threshold:.2f}: one for the flagship."


def _why_other(missing: Tier, routes: Sequence[RouteOption], chosen: RouteOption) -> str:
    """Why the tier that is missing does not answer, and who does."""
    of_missing = [route for route in routes if route.tier == missing]
    answers = f"the {NAMES[chosen.tier]} answers."
    if missing == "flagship" and all(route.enabled for route in of_missing):
        return "No flagship model is configured: everything goes to the local model."
    if not of_missing:
        return f"There is no route to a {NAMES[missing]}: {answers}"
    return (
        f"The {NAMES[missing]} is not available ({' '.join(route.why_not_usable for route in of_missing)}): {answers}"
    )
