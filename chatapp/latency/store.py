"""Writes of the latency log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from chatapp.latency.models import FirstPaint, TurnLatency

# A reason names every route that could not answer: with many routes it is cut.
REASON_MAX_CHARACTERS = 1_000
RULE_MAX_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn as it is logged; the fields are those of `TurnLatency`. Milliseconds, tokens, US dollars."""

    turn_id: UUID
    conversation_id: UUID
    user_id: int
    status: str
    finish_reason: str
    error_code: str
    source: str
    route: str
    model: str
    ttft_ms: float | None
    total_ms: float | None
    reason: str = ""
    rule: str = ""
    scorer: str = ""
    score: float | None = None
    threshold: float | None = None
    policy_version: int | None = None
    cache_status: str = ""
    cache_similarity: float | None = None
    queue_ms: float | None = None
    embed_ms: float | None = None
    cache_ms: float | None = None
    route_ms: float | None = None
    wait_ms: float | None = None
    compress_ms: float | None = None
    engine_first_token_ms: float | None = None
    stop_ms: float | None = None
    prompt_tokens: int | None = None
    cached_prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tokens_before_compress: int | None = None
    tokens_after_compress: int | None = None
    tokens_per_s: float | None = None
    inter_token_p50_ms: float | None = None
    inter_token_max_ms: float | None = None
    delta_count: int = 0
    cost_usd: Decimal | None = None
    fallbacks: int = 0


def save_turn_latency(record: TurnRecord) -> None:
    """Insert the turn's row; a row that is there already stays as it is."""
    fields = asdict(record)
    fields["reason"] = record.reason[:REASON_MAX_CHARACTERS]
    fields["rule"] = record.rule[:RULE_MAX_CHARACTERS]
    TurnLatency.objects.bulk_create([TurnLatency(**fields)], ignore_conflicts=True)


def save_first_paint(turn_id: UUID, first_paint_ms: float) -> None:
    """Keep what the browser reports first; a second tab changes nothing."""
    FirstPaint.objects.bulk_create([FirstPaint(turn_id=turn_id, first_paint_ms=first_paint_ms)], ignore_conflicts=True)


def prune(*, keep_days: int, limit: int) -> int:
    """Delete at most `limit` rows of each table that are older than `keep_days`; returns the larger count."""
    before = timezone.now() - timedelta(days=keep_days)
    deleted = []
    for model in (TurnLatency, FirstPaint):
        old = model.objects.filter(created_at__lt=before).values_list("pk", flat=True)[:limit]
        deleted.append(model.objects.filter(pk__in=list(old)).delete()[0])
    return max(deleted)
