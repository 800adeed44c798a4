"""Writes of the log against the real database."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.conf import settings

from chatapp.conversations.models import Conversation
from chatapp.latency.models import FirstPaint, TurnLatency
from chatapp.latency.store import REASON_MAX_CHARACTERS, TurnRecord, prune, save_first_paint, save_turn_latency
from chatapp.latency.tasks import prune_latency
from tests.integration.latency.conftest import LogTurn

pytestmark = [pytest.mark.services, pytest.mark.django_db]
KEPT_DAYS = settings.LATENCY_RETENTION_DAYS


@pytest.fixture
def record(conversation: Conversation) -> TurnRecord:
    return TurnRecord(
        turn_id=uuid4(),
        conversation_id=conversation.pk,
        user_id=conversation.user_id,
        status="finished",
        finish_reason="stop",
        error_code="",
        source="flagship",
        route="flagship",
        model="big",
        ttft_ms=12.5,
        total_ms=80.25,
        cost_usd=Decimal("0.001234"),
    )


def test_a_saved_turn_is_read_back_as_it_was(record: TurnRecord) -> None:
    save_turn_latency(record)
    row = TurnLatency.objects.get(pk=record.turn_id)
    assert (row.ttft_ms, row.total_ms, row.cost_usd) == (12.5, 80.25, Decimal("0.001234"))
    assert (row.conversation_id, row.user_id) == (record.conversation_id, record.user_id)


def test_what_did_not_happen_is_null_in_the_database(record: TurnRecord) -> None:
    save_turn_latency(replace(record, ttft_ms=None))
    assert TurnLatency.objects.filter(ttft_ms=None, embed_ms=None, prompt_tokens=None, stop_ms=None).count() == 1


def test_a_turn_saved_twice_is_one_row_and_stays_as_it_was_first(record: TurnRecord) -> None:
    save_turn_latency(record)
    save_turn_latency(replace(record, status="failed", total_ms=1.0))
    row = TurnLatency.objects.get()
    assert (row.status, row.total_ms) == ("finished", 80.25)


def test_a_reason_longer_than_its_column_is_cut_and_the_turn_is_kept(record: TurnRecord) -> None:
    save_turn_latency(replace(record, reason="é" * (REASON_MAX_CHARACTERS + 1)))
    assert TurnLatency.objects.get().reason == "é" * REASON_MAX_CHARACTERS


@pytest.mark.parametrize("is_painted_first", [True, False])
def test_a_first_paint_is_kept_whether_it_comes_before_or_after_the_row(
    record: TurnRecord, is_painted_first: bool
) -> None:
    steps = [lambda: save_first_paint(record.turn_id, 42.0), lambda: save_turn_latency(record)]
    for step in steps if is_painted_first else reversed(steps):
        step()
    assert FirstPaint.objects.get(pk=record.turn_id).first_paint_ms == 42.0


def test_only_the_first_paint_that_is_reported_counts() -> None:
    turn_id = uuid4()
    save_first_paint(turn_id, 42.0)
    save_first_paint(turn_id, 7.0)
    assert FirstPaint.objects.get().first_paint_ms == 42.0


def test_the_log_outlives_the_conversation_and_the_person(record: TurnRecord, conversation: Conversation) -> None:
    save_turn_latency(record)
    conversation.user.delete()
    row = TurnLatency.objects.get()
    assert (row.conversation_id, row.user_id, row.total_ms) == (None, None, 80.25)


def test_pruning_takes_what_is_older_than_the_retention_and_nothing_else(log_turn: LogTurn) -> None:
    log_turn(ago=timedelta(days=KEPT_DAYS, minutes=1))
    kept = log_turn(ago=timedelta(days=KEPT_DAYS) - timedelta(minutes=1))
    prune_latency()
    prune_latency()
    assert [row.pk for row in TurnLatency.objects.all()] == [kept]


def test_pruning_takes_old_first_paints_too(now: datetime) -> None:
    FirstPaint.objects.create(turn_id=uuid4(), first_paint_ms=1.0, created_at=now - timedelta(days=KEPT_DAYS + 1))
    prune_latency()
    assert not FirstPaint.objects.exists()


def test_one_batch_is_no_larger_than_its_limit(log_turn: LogTurn) -> None:
    for _ in range(3):
        log_turn(ago=timedelta(days=KEPT_DAYS + 1))
    assert [prune(keep_days=KEPT_DAYS, limit=2) for _ in range(3)] == [2, 1, 0]


def test_the_job_goes_on_until_nothing_old_is_left(log_turn: LogTurn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatapp.latency.tasks.BATCH", 2)
    turn_ids: list[UUID] = [log_turn(ago=timedelta(days=KEPT_DAYS + 1)) for _ in range(5)]
    prune_latency()
    assert not TurnLatency.objects.filter(pk__in=turn_ids).exists()
