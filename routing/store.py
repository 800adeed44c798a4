"""Reads and writes of routes and policies: what a turn needs of them comes as plain values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.db import transaction
from django.db.models import Max

from routing.models import Route, RoutePolicy
from routing.policy import Policy
from routing.rules import Tier, parse_rules

DEFAULT_SYSTEM_PROMPT = (
    "You are a helpful assistant. Answer in the language of the question, correctly and to the point. "
    "If you do not know, say so."
)


@dataclass(frozen=True, slots=True)
class RouteSettings:
    """A route as an admin set it; blank `base_url` and `model` mean the environment's."""

    name: str
    kind: str
    tier: Tier
    enabled: bool
    base_url: str
    model: str
    api_key_env: str
    system_prompt: str
    max_tokens: int
    context_tokens: int
    temperature: float | None
    connect_timeout_s: float
    first_token_timeout_s: float
    between_tokens_timeout_s: float
    total_timeout_s: float
    price_per_million_input_usd: Decimal
    price_per_million_cached_usd: Decimal
    price_per_million_output_usd: Decimal


@dataclass(frozen=True, slots=True)
class RoutingSnapshot:
    """What is in force at one moment: a turn keeps the one it began under."""

    policy: Policy
    routes: tuple[RouteSettings, ...]


Stamp = tuple[int | None, int | None]

# The latest snapshot of this process with its stamp.
_latest: tuple[Stamp, RoutingSnapshot] | None = None


def load_snapshot(*, stamp: Stamp | None = None) -> RoutingSnapshot:
    """What is in force now. `stamp` (the latest ids of a route's history and of a policy) tells that nothing has
    changed: the snapshot of an equal stamp is taken again without a query, so an edit applies to the next turn."""
    global _latest
    if stamp is not None and _latest is not None and _latest[0] == stamp:
        return _latest[1]
    routes = Route.objects.order_by("tier", "name").values(*RouteSettings.__slots__)
    active = RoutePolicy.objects.filter(is_active=True).first()
    snapshot = RoutingSnapshot(
        policy=_as_policy(active) if active else Policy(version=0, threshold=0.5),
        routes=tuple(RouteSettings(**route) for route in routes),
    )
    if stamp is not None:
        _latest = (stamp, snapshot)
    return snapshot


def _as_policy(row: RoutePolicy) -> Policy:
    return Policy(
        version=row.version,
        threshold=row.threshold,
        rules=parse_rules(row.rules),
        routing_enabled=row.routing_enabled,
        fallback_enabled=row.fallback_enabled,
        fallback_order=tuple(filter(None, (name.strip() for name in row.fallback_order.split(",")))),
        cache_enabled=row.cache_enabled,
        cache_min_similarity=row.cache_min_similarity,
        cache_ttl_days=row.cache_ttl_days,
        compression_enabled=row.compression_enabled,
        history_budget_tokens=row.history_budget_tokens,
    )


def generation_fingerprint(route: RouteSettings, *, model: str) -> str:
    """SHA-256, in hex, of all that shapes an answer; `model` is the one that answered, by name or by environment."""
    shaping = [route.kind, model, route.system_prompt, route.temperature]
    return hashlib.sha256(orjson.dumps(shaping)).hexdigest()


@transaction.atomic
def save_policy_version(fields: dict[str, Any], *, author: Any | None) -> RoutePolicy:
    """Make the next version of these fields and put it in force."""
    # Two admins who save at once get two versions, one after the other.
    list(RoutePolicy.objects.select_for_update().filter(is_active=True))
    latest = RoutePolicy.objects.aggregate(latest=Max("version"))["latest"] or 0
    RoutePolicy.objects.filter(is_active=True).update(is_active=False)
    return RoutePolicy.objects.create(**fields, version=latest + 1, is_active=True, created_by=author)


POLICY_FIELDS = (
    "note",
    "routing_enabled",
    "threshold",
    "rules",
    "fallback_enabled",
    "fallback_order",
    "cache_enabled",
    "cache_min_similarity",
    "cache_ttl_days",
    "compression_enabled",
    "history_budget_tokens",
)


def restore_policy_version(policy: RoutePolicy, *, author: Any | None) -> RoutePolicy:
    """An old version comes back as a new one: the log never shows two periods under one number."""
    fields = {name: getattr(policy, name) for name in POLICY_FIELDS}
    return save_policy_version(fields | {"note": f"Restored version {policy.version}."}, author=author)


@transaction.atomic
def ensure_default_routes() -> None:
    """What a new site starts with; what an admin has changed or deleted since is left as it is."""
    if not RoutePolicy.objects.exists():
        save_policy_version({"note": "The default."}, author=None)
        for defaults in DEFAULT_ROUTES:
            Route.objects.get_or_create(name=defaults["name"], defaults=defaults)


DEFAULT_ROUTES: tuple[dict[str, Any], ...] = (
    {
        "name": "local",
        "label": "Local model",
        "kind": Route.Kind.VLLM,
        "tier": Route.Tier.LOCAL,
        "system_prompt": DEFAULT_SYSTEM_PROMPT,
        "temperature": 0.0,
        "max_tokens": 1_024,
        "context_tokens": 4_096,
    },
    {
        "name": "openai",
        "label": "OpenAI",
        "kind": Route.Kind.OPENAI,
        "tier": Route.Tier.FLAGSHIP,
        "api_key_env": "OPENAI_API_KEY",
        "system_prompt": DEFAULT_SYSTEM_PROMPT,
        "max_tokens": 4_096,
        "context_tokens": 128_000,
    },
    {
        "name": "anthropic",
        "label": "Anthropic",
        "kind": Route.Kind.ANTHROPIC,
        "tier": Route.Tier.FLAGSHIP,
        "api_key_env": "ANTHROPIC_API_KEY",
        "system_prompt": DEFAULT_SYSTEM_PROMPT,
        "max_tokens": 4_096,
        "context_tokens": 200_000,
    },
)
