"""The reports against percentiles that were computed from the same rows by hand."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from pytest_django import DjangoAssertNumQueries

from chatapp.conversations.models import Conversation
from chatapp.latency.reports import CONVERSATIONS_PER_PAGE, RANGES, report_latency, summarize_conversation
from tests.integration.latency.conftest import LogTurn

pytestmark = [pytest.mark.services, pytest.mark.django_db]
HOUR, DAY, WEEK = (RANGES[name] for name in ("hour", "day", "week"))


def by_hand(values: list[float]) -> dict[str, Any]:
    p50, p95, p99 = np.percentile(values, [50, 95, 99], method="linear")
    return {"p50": pytest.approx(p50), "p95": pytest.approx(p95), "p99": pytest.approx(p99)}


def only_percentiles(measure: dict[str, Any]) -> dict[str, Any]:
    return {name: measure[name] for name in ("p50", "p95", "p99")}


def source_of(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(source for source in report["sources"] if source["name"] == name)


def test_percentiles_equal_those_computed_from_the_rows_by_hand(log_turn: LogTurn, now: datetime) -> None:
    dice = random.Random(7)
    times = {
        source: [(dice.lognormvariate(4, 1), dice.lognormvariate(7, 1)) for _ in range(n)]
        for source, n in (("cache", 3), ("local", 41), ("flagship", 120))
    }
    for source, pairs in times.items():
        for ttft_ms, total_ms in pairs:
            log_turn(source=source, ttft_ms=ttft_ms, total_ms=total_ms)
    times["all"] = [pair for pairs in list(times.values()) for pair in pairs]
    report = report_latency(HOUR, now=now)
    for source, pairs in times.items():
        ttfts, totals = zip(*pairs, strict=True)
        assert only_percentiles(source_of(report, source)["ttft"]) == by_hand(list(ttfts))
        assert only_percentiles(source_of(report, source)["total"]) == by_hand(list(totals))


def test_stopped_and_failed_turns_are_counted_and_not_mixed_in(log_turn: LogTurn, now: datetime) -> None:
    log_turn(ttft_ms=10.0, total_ms=100.0)
    log_turn(status="stopped", ttft_ms=9_000.0, total_ms=9_000.0)
    log_turn(status="failed", ttft_ms=8_000.0, total_ms=8_000.0, error_code="engine_down")
    local = source_of(report_latency(HOUR, now=now), "local")
    assert [local[key] for key in ("turns", "finished", "stopped", "failed")] == [3, 1, 1, 1]
    assert only_percentiles(local["ttft"]) == {"p50": 10.0, "p95": 10.0, "p99": 10.0}
    assert only_percentiles(local["total"]) == {"p50": 100.0, "p95": 100.0, "p99": 100.0}


def test_a_turn_without_a_first_token_is_not_one_of_zero_milliseconds(log_turn: LogTurn, now: datetime) -> None:
    log_turn(ttft_ms=None, total_ms=50.0)
    log_turn(ttft_ms=20.0, total_ms=70.0)
    local = source_of(report_latency(HOUR, now=now), "local")
    assert (local["ttft"]["p50"], local["ttft"]["n"]) == (20.0, 1)
    assert (local["total"]["p50"], local["total"]["n"]) == (60.0, 2)


def test_a_turn_that_nobody_answered_counts_among_all_only(log_turn: LogTurn, now: datetime) -> None:
    log_turn(source="none", status="failed")
    report = report_latency(HOUR, now=now)
    assert {source["name"]: source["turns"] for source in report["sources"]} == {
        "all": 1,
        "cache": 0,
        "local": 0,
        "flagship": 0,
    }


def test_an_empty_log_has_every_source_and_no_number(db: None, now: datetime) -> None:
    report = report_latency(HOUR, now=now)
    assert [source["name"] for source in report["sources"]] == ["all", "cache", "local", "flagship"]
    assert all(only_percentiles(source["ttft"]) == dict.fromkeys(("p50", "p95", "p99")) for source in report["sources"])
    assert (report["failures"], report["conversations"]) == ([], {"rows": [], "has_more": False})


@pytest.mark.parametrize(
    ("turns", "is_enough"), [(19, (False, False)), (20, (True, False)), (99, (True, False)), (100, (True, True))]
)
def test_few_turns_are_not_enough_for_the_high_percentiles(
    log_turn: LogTurn, now: datetime, turns: int, is_enough: tuple[bool, bool]
) -> None:
    for _ in range(turns):
        log_turn(ttft_ms=1.0, total_ms=2.0)
    ttft = source_of(report_latency(HOUR, now=now), "local")["ttft"]
    assert (ttft["enough_for_p95"], ttft["enough_for_p99"]) == is_enough


@pytest.mark.parametrize(
    ("ago", "ranges"),
    [
        (timedelta(minutes=59), ["hour", "day", "week"]),
        (timedelta(hours=23), ["day", "week"]),
        (timedelta(days=6), ["week"]),
        (timedelta(days=8), []),
    ],
)
def test_a_range_has_the_turns_of_its_span(log_turn: LogTurn, now: datetime, ago: timedelta, ranges: list[str]) -> None:
    log_turn(ago=ago)
    counts = {name: source_of(report_latency(choice, now=now), "all")["turns"] for name, choice in RANGES.items()}
    assert [name for name, turns in counts.items() if turns] == ranges


@pytest.mark.parametrize("choice", [HOUR, DAY, WEEK], ids=lambda choice: choice.name)
def test_every_turn_of_a_range_is_in_the_bucket_of_its_time(log_turn: LogTurn, now: datetime, choice: Any) -> None:
    # A moment inside the range: rows are kept to the microsecond, and the range's first instant is one of its own.
    ages = [timedelta(0), choice.span / 2, choice.span - timedelta(seconds=1)]
    for age in ages:
        log_turn(ago=age, ttft_ms=5.0, total_ms=6.0)
    series = report_latency(choice, now=now)["series"]
    step = choice.bucket.total_seconds()
    filled = [at for at, turns in zip(series["times"], series["sources"]["local"]["turns"], strict=True) if turns]
    assert filled == sorted({(now - age).timestamp() // step * step for age in ages})
    assert sum(series["sources"]["all"]["turns"]) == len(ages)


def test_the_series_is_by_source_and_empty_buckets_are_null(log_turn: LogTurn, now: datetime) -> None:
    for ttft_ms in (10.0, 20.0):
        log_turn(source="cache", ago=timedelta(0), ttft_ms=ttft_ms, total_ms=100.0)
    sources = report_latency(HOUR, now=now)["series"]["sources"]
    assert sources["cache"]["ttft"]["p50"][-1] == 15.0
    assert set(sources["cache"]["ttft"]["p50"][:-1]) == {None}
    assert set(sources["local"]["ttft"]["p50"]) == {None}


def test_failures_are_counted_by_cause_the_commonest_first(log_turn: LogTurn, now: datetime) -> None:
    for code in ("engine_down", "too_long", "too_long"):
        log_turn(status="failed", error_code=code)
    assert report_latency(HOUR, now=now)["failures"] == [
        {"code": "too_long", "turns": 2},
        {"code": "engine_down", "turns": 1},
    ]


def test_conversations_come_latest_first_page_by_page_with_their_own_percentiles(
    log_turn: LogTurn, conversation: Conversation, now: datetime
) -> None:
    others = [
        Conversation.objects.create(id=uuid4(), user=conversation.user, title="Another", updated_at=now)
        for _ in range(CONVERSATIONS_PER_PAGE)
    ]
    for index, other in enumerate([conversation, *others]):
        log_turn(conversation=other, ago=timedelta(minutes=index + 1), ttft_ms=float(index), total_ms=100.0)
    first, second = (report_latency(HOUR, page=page, now=now)["conversations"] for page in (1, 2))
    assert [row["id"] for row in first["rows"]] == [str(each.pk) for each in [conversation, *others[:-1]]]
    assert [row["ttft"]["p50"] for row in first["rows"]] == [float(n) for n in range(CONVERSATIONS_PER_PAGE)]
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert [row["id"] for row in second["rows"]] == [str(others[-1].pk)]


def test_nothing_that_was_said_is_in_the_report(log_turn: LogTurn, conversation: Conversation, now: datetime) -> None:
    log_turn(reason="A reason")
    report = report_latency(HOUR, now=now)
    assert report["conversations"]["rows"][0]["user"] == conversation.user.get_username()
    assert conversation.title not in str(report)


def test_the_turns_of_a_deleted_conversation_still_count(
    log_turn: LogTurn, conversation: Conversation, now: datetime
) -> None:
    log_turn(ttft_ms=10.0, total_ms=20.0)
    conversation.delete()
    report = report_latency(HOUR, now=now)
    assert source_of(report, "local")["ttft"]["p50"] == 10.0
    assert report["conversations"]["rows"] == []


def test_the_report_takes_as_many_queries_for_many_turns_as_for_none(
    log_turn: LogTurn, now: datetime, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4):
        report_latency(WEEK, now=now)
    for _ in range(30):
        log_turn(ttft_ms=1.0, total_ms=1.0)
    with django_assert_num_queries(4):
        report_latency(WEEK, now=now)


def test_a_conversation_is_summed_up_over_all_its_turns_however_old(
    log_turn: LogTurn, conversation: Conversation
) -> None:
    log_turn(ttft_ms=10.0, total_ms=100.0, ago=timedelta(days=30))
    log_turn(ttft_ms=20.0, total_ms=300.0)
    log_turn(status="stopped", ttft_ms=999.0, total_ms=999.0)
    summary = summarize_conversation(conversation.pk)
    assert summary is not None
    assert [summary[key] for key in ("turns", "finished", "stopped", "failed")] == [3, 2, 1, 0]
    assert (summary["ttft"]["p50"], summary["total"]["p50"]) == (15.0, 200.0)


def test_a_conversation_without_a_turn_in_the_log_has_no_summary(conversation: Conversation) -> None:
    assert summarize_conversation(conversation.pk) is None
