"""Ends turns whose process died: no lease and no ending. What was said is read from the turn's log and kept."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from redis import Redis
from redis.exceptions import ResponseError

from chatapp.conversations.models import Message, Turn
from chatapp.latency.store import TurnRecord, save_turn_latency
from chatapp.turns.endings import MESSAGE_STATUS
from chatapp.turns.events import Failed
from chatapp.turns.frames import Frame, encode_frame, ending_frame
from chatapp.turns.leases import LEASE_SECONDS, lease_key
from chatapp.turns.stopwatch import Stopwatch
from chatapp.turns.stream_log import TERMINAL_TYPES, entry_id, stream_key
from chatapp.turns.trace import TurnTrace

logger = logging.getLogger(__name__)


def sweep_lost_turns(redis: Redis) -> int:
    """Ends every turn that is older than a lease and has none; returns how many."""
    running = Turn.objects.filter(status=Turn.Status.RUNNING).values_list("id", flat=True)
    return sum(end_if_lost(redis, turn_id) for turn_id in running)


def end_if_lost(redis: Redis, turn_id: UUID) -> bool:
    """True if the turn was lost and is ended now. Safe from several processes at once: one number, one writer."""
    if redis.exists(lease_key(turn_id)) or not _is_old_enough(turn_id):
        return False
    records = _read_log(redis, turn_id)
    ending = records[-1] if records and records[-1]["type"] in TERMINAL_TYPES else None
    answer = "".join(record["text"] for record in records if record["type"] == "delta")
    if ending is None:
        ending = _append_ending(redis, turn_id, records, answer)
        if (
            ending is None
        ):  # somebody else wrote this number: the producer lives after all, or another sweeper was faster
            return False
    return _save(turn_id, ending, answer, records)


def _is_old_enough(turn_id: UUID) -> bool:
    """A turn begins in Postgres a moment before its producer takes the lease."""
    return Turn.objects.filter(pk=turn_id, created_at__lt=timezone.now() - timedelta(seconds=LEASE_SECONDS)).exists()


def _read_log(redis: Redis, turn_id: UUID) -> list[Frame]:
    rows: Any = redis.xrange(stream_key(turn_id))
    return [orjson.loads(fields[b"f"]) for _, fields in rows]


def _append_ending(redis: Redis, turn_id: UUID, records: list[Frame], answer: str) -> Frame | None:
    client_id = Turn.objects.filter(pk=turn_id).values_list("client_id", flat=True).first()
    if client_id is None:
        return None
    trace = TurnTrace(Stopwatch())
    trace.parts.append(answer)
    _recall_source(trace, records)
    seq = len(records)
    frame = {**ending_frame(client_id, Failed("producer_lost"), trace), "seq": seq}
    key = stream_key(turn_id)
    try:
        redis.xadd(key, {"f": encode_frame(frame)}, id=entry_id(seq))
    except ResponseError:
        return None
    redis.expire(key, settings.STREAM_LOG_KEEP_SECONDS)
    return frame


def _recall_source(trace: TurnTrace, records: list[Frame]) -> None:
    for record in records:
        if record["type"] == "routed":
            trace.source, trace.route, trace.model = record["source"], record["route"], record["model"]


@transaction.atomic
def _save(turn_id: UUID, ending: Frame, answer: str, records: list[Frame]) -> bool:
    turn = Turn.objects.select_for_update().filter(pk=turn_id, status=Turn.Status.RUNNING).first()
    if turn is None:
        return False
    badge = ending["badge"]
    turn.status = ending["type"]
    turn.finish_reason = ending["finish_reason"]
    turn.error_code = ending.get("code", "")
    turn.source = badge["source"]
    turn.badge = badge
    turn.ended_at = timezone.now()
    turn.save()
    Message.objects.filter(pk=turn.answer_id).update(
        text=answer.replace("\x00", "\ufffd"), status=MESSAGE_STATUS[ending["type"]]
    )
    save_turn_latency(
        TurnRecord(
            turn_id=turn.id,
            conversation_id=turn.conversation_id,
            user_id=turn.user_id,
            status=turn.status,
            finish_reason=turn.finish_reason,
            error_code=turn.error_code,
            source=turn.source,
            route=badge["route"],
            model=badge["model"],
            ttft_ms=badge["ttft_ms"],
            total_ms=badge["total_ms"],
            delta_count=sum(record["type"] == "delta" for record in records),
        )
    )
    logger.info("turn %s was lost and is ended as %s", turn.id, turn.status)
    return True
