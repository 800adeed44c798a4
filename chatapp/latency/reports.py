"""What the dashboard shows, computed from the rows: time to first token and total apart, by source, over time and by
conversation. Stopped and failed turns are counted beside the finished ones, never mixed into their percentiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from chatapp.latency.percentiles import (
    COUNT_COLUMNS,
    MEASURES,
    NAMES,
    PERCENTILE_COLUMNS,
    describe_measures,
    select_rows,
)

CONVERSATIONS_PER_PAGE = 25
SOURCES = ("all", "cache", "local", "flagship")
_NO_TURNS = {"turns": 0, "finished": 0, "stopped": 0, "failed": 0, "tokens_per_s": None, "cost_usd": None} | {
    key: value for measure in MEASURES for key, value in ((measure, None), (f"{measure}_n", 0))
}
_EPOCH = datetime.fromtimestamp(0, tz=UTC)


@dataclass(frozen=True, slots=True)
class Range:
    """A span of time up to now, and the width of the chart's buckets."""

    name: str
    label: str
    span: timedelta
    bucket: timedelta


RANGES = {
    choice.name: choice
    for choice in (
        Range("hour", "Last hour", timedelta(hours=1), timedelta(minutes=1)),
        Range("day", "Last day", timedelta(days=1), timedelta(minutes=20)),
        Range("week", "Last week", timedelta(days=7), timedelta(hours=2)),
    )
}


def report_latency(choice: Range, *, page: int = 1, now: datetime | None = None) -> dict[str, Any]:
    """Everything the dashboard shows of a range, ready for JSON. Four queries, however many turns there are."""
    now = now or timezone.now()
    since = now - choice.span
    return {
        "range": choice.name,
        "until": now.timestamp(),
        "sources": _summarize_sources(since),
        "series": _list_series(choice, since, now),
        "failures": _count_failures(since),
        "conversations": _list_conversations(since, page),
        "page": page,
    }


def _summarize_sources(since: datetime) -> list[dict[str, Any]]:
    """One entry for all turns and one for each source, in a fixed order, those without a turn included."""
    rows = select_rows(
        f"""
        SELECT CASE WHEN GROUPING(source) = 1 THEN 'all' ELSE source END AS name,
               {COUNT_COLUMNS}, {PERCENTILE_COLUMNS}, SUM(cost_usd) AS cost_usd,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY tokens_per_s) AS tokens_per_s
        FROM latency_turnlatency WHERE created_at >= %s
        GROUP BY GROUPING SETS ((source), ())
        """,  # noqa: S608 - only constants are put in
        [since],
    )
    found = {row["name"]: row for row in rows}
    return [_describe_source(name, found.get(name, _NO_TURNS)) for name in SOURCES]


def _describe_source(name: str, row: dict[str, Any]) -> dict[str, Any]:
    cost = row["cost_usd"]
    return {
        "name": name,
        **{key: row[key] for key in ("turns", "finished", "stopped", "failed", "tokens_per_s")},
        "cost_usd": None if cost is None else float(cost),
        **describe_measures(row),
    }


def _list_series(choice: Range, since: datetime, now: datetime) -> dict[str, Any]:
    """Percentiles by bucket of time. A bucket without a turn is null: no line is drawn through it."""
    rows = select_rows(
        f"""
        SELECT EXTRACT(EPOCH FROM date_bin(%s, created_at, %s))::bigint AS at,
               CASE WHEN GROUPING(source) = 1 THEN 'all' ELSE source END AS name,
               COUNT(*) AS turns, {PERCENTILE_COLUMNS}
        FROM latency_turnlatency WHERE created_at >= %s
        GROUP BY GROUPING SETS ((at, source), (at))
        """,  # noqa: S608 - only constants are put in
        [choice.bucket, _EPOCH, since],
    )
    step = int(choice.bucket.total_seconds())
    first = int(since.timestamp()) // step * step
    times = list(range(first, int(now.timestamp()) + 1, step))
    by_key = {(row["name"], row["at"]): row for row in rows}
    return {
        "times": times,
        "sources": {name: _list_values([by_key.get((name, at)) for at in times]) for name in SOURCES},
    }


def _list_values(rows: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    return {
        "turns": [row["turns"] if row else 0 for row in rows],
        **{
            measure: {
                name: [row[measure][index] if row and row[measure] else None for row in rows]
                for index, name in enumerate(NAMES)
            }
            for measure in MEASURES
        },
    }


def _count_failures(since: datetime) -> list[dict[str, Any]]:
    return select_rows(
        """
        SELECT error_code AS code, COUNT(*) AS turns FROM latency_turnlatency
        WHERE created_at >= %s AND status = 'failed' GROUP BY error_code ORDER BY turns DESC, code
        """,
        [since],
    )


def _list_conversations(since: datetime, page: int) -> dict[str, Any]:
    """Conversations with a turn in the range, the latest first. Whose they are, but nothing that was said in them."""
    rows = select_rows(
        f"""
        SELECT conversation_id::text AS id, MAX(person.username) AS "user", COUNT(*) AS turns,
               EXTRACT(EPOCH FROM MAX(log.created_at))::float AS latest, {PERCENTILE_COLUMNS}
        FROM latency_turnlatency AS log LEFT JOIN accounts_user AS person ON person.id = log.user_id
        WHERE log.created_at >= %s AND conversation_id IS NOT NULL
        GROUP BY conversation_id ORDER BY latest DESC, id LIMIT %s OFFSET %s
        """,  # noqa: S608 - only constants are put in
        [since, CONVERSATIONS_PER_PAGE + 1, (page - 1) * CONVERSATIONS_PER_PAGE],
    )
    return {
        "rows": [
            {key: row[key] for key in ("id", "user", "turns", "latest")} | describe_measures(row)
            for row in rows[:CONVERSATIONS_PER_PAGE]
        ],
        "has_more": len(rows) > CONVERSATIONS_PER_PAGE,
    }


def summarize_conversation(conversation_id: UUID) -> dict[str, Any] | None:
    """One conversation's percentiles over all its turns; None if the log has none."""
    row = select_rows(
        f"""
        SELECT MAX(person.username) AS "user", MAX(log.user_id) AS user_id, {COUNT_COLUMNS}, {PERCENTILE_COLUMNS}
        FROM latency_turnlatency AS log LEFT JOIN accounts_user AS person ON person.id = log.user_id
        WHERE conversation_id = %s
        """,  # noqa: S608 - only constants are put in
        [conversation_id],
    )[0]
    return row | describe_measures(row) if row["turns"] else None
