"""Writes down how a turn ended: the answer, the turn, its row in the latency log, the cache. After the last frame."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from statistics import median

from django.db import transaction
from django.utils import timezone

from chatapp.answercache.store import NewAnswer, note_hit, save_answer
from chatapp.conversations.models import Message, Turn
from chatapp.latency.store import TurnRecord, save_turn_latency
from chatapp.turns.commands import BegunTurn
from chatapp.turns.events import Ending, Failed, Finished
from chatapp.turns.frames import describe_badge
from chatapp.turns.trace import TurnTrace
from inference.events import Usage
from routing.store import RouteSettings, generation_fingerprint

MESSAGE_STATUS = {
    "finished": Message.Status.COMPLETE,
    "stopped": Message.Status.STOPPED,
    "failed": Message.Status.FAILED,
}


@dataclass(frozen=True, slots=True)
class EndedTurn:
    begun: BegunTurn
    ending: Ending
    trace: TurnTrace
    embedder: str

    @property
    def status(self) -> str:
        return type(self.ending).__name__.lower()

    @property
    def finish_reason(self) -> str:
        if isinstance(self.ending, Finished):
            return self.ending.finish_reason
        return "error" if isinstance(self.ending, Failed) else "cancelled"

    @property
    def error_code(self) -> str:
        return self.ending.code if isinstance(self.ending, Failed) else ""


@transaction.atomic
def end_turn(ended: EndedTurn) -> None:
    """Safe to call twice: a turn that has ended already is left as it is."""
    begun, trace = ended.begun, ended.trace
    changed = Turn.objects.filter(pk=begun.turn_id, status=Turn.Status.RUNNING).update(
        status=ended.status,
        finish_reason=ended.finish_reason,
        error_code=ended.error_code,
        source=trace.source,
        badge=describe_badge(trace),
        ended_at=timezone.now(),
    )
    if not changed:  # swept as lost, or deleted with its conversation
        return
    # Postgres stores every code point but NUL.
    text = trace.answer.replace("\x00", "\ufffd")
    Message.objects.filter(pk=begun.answer_id).update(text=text, status=MESSAGE_STATUS[ended.status])
    save_turn_latency(describe_latency(ended))
    if trace.cached is not None:
        note_hit(trace.cached.entry_id)
    elif ended.finish_reason == "stop":
        _save_to_cache(ended, text)


def _save_to_cache(ended: EndedTurn, text: str) -> None:
    begun, trace = ended.begun, ended.trace
    route = _find_route(begun, trace.route)
    if begun.snapshot is None or route is None or trace.embedding is None or not begun.snapshot.policy.cache_enabled:
        return
    save_answer(
        NewAnswer(
            user_id=begun.user_id,
            question=begun.question,
            answer=text,
            embedding=trace.embedding,
            embedder=ended.embedder,
            context_digest=begun.context_digest,
            fingerprint=generation_fingerprint(route, model=trace.model),
            source_turn_id=begun.turn_id,
            expires_at=timezone.now() + timedelta(days=begun.snapshot.policy.cache_ttl_days),
        )
    )


def _find_route(begun: BegunTurn, name: str) -> RouteSettings | None:
    routes = begun.snapshot.routes if begun.snapshot else ()
    return next((route for route in routes if route.name == name), None)


def describe_latency(ended: EndedTurn) -> TurnRecord:
    """The turn's row: what did not happen is None, never 0."""
    begun, trace = ended.begun, ended.trace
    decision, stages, usage = trace.decision, trace.stopwatch.stages_ms, trace.usage
    marks = trace.delta_marks_ms
    gaps = [later - earlier for earlier, later in pairwise(marks)]
    policy_version = begun.snapshot.policy.version if begun.snapshot else None
    return TurnRecord(
        turn_id=begun.turn_id,
        conversation_id=begun.conversation_id,
        user_id=begun.user_id,
        status=ended.status,
        finish_reason=ended.finish_reason,
        error_code=ended.error_code,
        source=trace.source,
        route=trace.route,
        model=trace.model,
        reason=decision.reason if decision else "",
        rule=decision.rule if decision else "",
        scorer=decision.scorer if decision else "",
        score=decision.score if decision else None,
        threshold=decision.threshold if decision else None,
        policy_version=policy_version,
        cache_status=trace.cache_status,
        cache_similarity=trace.cache_similarity,
        queue_ms=stages.get("queue_ms"),
        embed_ms=stages.get("embed_ms"),
        cache_ms=stages.get("cache_ms"),
        route_ms=stages.get("route_ms"),
        compress_ms=stages.get("compress_ms"),
        wait_ms=stages.get("wait_ms"),
        engine_first_token_ms=stages.get("engine_first_token_ms"),
        ttft_ms=trace.ttft_ms,
        total_ms=trace.total_ms,
        stop_ms=trace.stop_ms,
        prompt_tokens=usage.prompt_tokens,
        cached_prompt_tokens=usage.cached_tokens,
        completion_tokens=usage.completion_tokens,
        tokens_before_compress=trace.tokens_before_compress,
        tokens_after_compress=trace.tokens_after_compress,
        tokens_per_s=trace.tokens_per_s,
        inter_token_p50_ms=median(gaps) if gaps else None,
        inter_token_max_ms=max(gaps) if gaps else None,
        cost_usd=cost_of(usage, _find_route(begun, trace.route)),
        fallbacks=trace.fallbacks,
        delta_count=len(marks),
    )


def cost_of(usage: Usage, route: RouteSettings | None) -> Decimal | None:
    """US dollars by the route's prices per million tokens; cached prompt tokens at their own price. None if unknown."""
    if route is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = usage.cached_tokens or 0
    million = Decimal(1_000_000)
    return (
        (usage.prompt_tokens - cached) * route.price_per_million_input_usd
        + cached * route.price_per_million_cached_usd
        + usage.completion_tokens * route.price_per_million_output_usd
    ) / million
