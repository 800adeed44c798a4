"""What the dashboard shows, computed from the rows in SQL: exact percentiles, time to first token and total apart.

Percentiles are Postgres's `percentile_cont` (linear interpolation between the two nearest ranks), over finished turns
only; stopped and failed ones are counted beside them, not mixed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

PERCENTILES = (0.5, 0.95, 0.99)
# Under these a percentile is one slow turn's mood: the page greys it.
ENOUGH_FOR_P95, ENOUGH_FOR_P99 = 20, 100
CONVERSATIONS_PER_PAGE = 25
SOURCES = ("all", "cache", "local", "flagship")


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

_PERCENTILES_OF = """
    percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY {column})
        FILTER (WHERE status = 'finished' AND {column} IS NOT NULL)
"""
_TTFT, _TOTAL = (_PERCENTILES_OF.format(column=column) for column in ("ttft_ms", "total_ms"))


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
    rows = _select(
        f"""
        SELECT CASE WHEN GROUPING(source) = 1 THEN 'all' ELSE source END AS name,
               COUNT(*) FILTER (WHERE status = 'finished') AS finished,
               COUNT(*) FILTER (WHERE status = 'stopped') AS stopped,
               COUNT(*) FILTER (WHERE status = 'failed') AS failed,
               COUNT(ttft_ms) FILTER (WHERE status = 'finished') AS n,
               {_TTFT} AS ttft, {_TOTAL} AS total,
               SUM(cost_usd) AS cost_usd,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY tokens_per_s) AS tokens_per_s
        FROM latency_turnlatency WHERE created_at >= %s
        GROUP BY GROUPING SETS ((source), ())
        """,  # noqa: S608 - only constants of this module are put in
        [since],
    )
    found = {row["name"]: row for row in rows}
    return [_describe_source(name, found.get(name)) for name in SOURCES]


def _describe_source(name: str, row: dict[str, Any] | None) -> dict[str, Any]:
    row = row or {"finished": 0, "stopped": 0, "failed": 0, "n": 0, "ttft": None, "total": None}
    cost = row.get("cost_usd")
    return {
        "name": name,
        "finished": row["finished"],
        "stopped": row["stopped"],
        "failed": row["failed"],
        "ttft": _name_percentiles(row["ttft"]),
        "total": _name_percentiles(row["total"]),
        "enough_for_p95": row["n"] >= ENOUGH_FOR_P95,
        "enough_for_p99": row["n"] >= ENOUGH_FOR_P99,
        "tokens_per_s": row.get("tokens_per_s"),
        "cost_usd": None if cost is None else float(cost),
    }


def _name_percentiles(values: Sequence[float] | None) -> dict[str, float | None]:
    p50, p95, p99 = values or (None, None, None)
    return {"p50": p50, "p95": p95, "p99": p99}


def _list_series(choice: Range, since: datetime, now: datetime) -> dict[str, Any]:
    """Percentiles by bucket of time. A bucket without a turn is null: no line is drawn through it."""
    rows = _select(
        f"""
        SELECT EXTRACT(EPOCH FROM date_bin(%s, created_at, %s))::bigint AS at,
               CASE WHEN GROUPING(source) = 1 THEN 'all' ELSE source END AS name,
               COUNT(*) AS turns, {_TTFT} AS ttft, {_TOTAL} AS total
        FROM latency_turnlatency WHERE created_at >= %s
        GROUP BY GROUPING SETS ((at, source), (at))
        """,  # noqa: S608 - only constants of this module are put in
        [choice.bucket, datetime.fromtimestamp(0, tz=now.tzinfo), since],
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
                for index, name in enumerate(("p50", "p95", "p99"))
            }
            for measure in ("ttft", "total")
        },
    }


def _count_failures(since: datetime) -> list[dict[str, Any]]:
    return _select(
        """
        SELECT error_code AS code, COUNT(*) AS turns FROM latency_turnlatency
        WHERE created_at >= %s AND status = 'failed' GROUP BY error_code ORDER BY turns DESC, code
        """,
        [since],
    )


def _list_conversations(since: datetime, page: int) -> dict[str, Any]:
    """Conversations with a turn in the range, the latest first. Whose they are, but nothing that was said in them."""
    rows = _select(
        f"""
        SELECT conversation_id::text AS id, MAX(person.username) AS "user", COUNT(*) AS turns,
               EXTRACT(EPOCH FROM MAX(log.created_at)) AS latest, {_TTFT} AS ttft, {_TOTAL} AS total
        FROM latency_turnlatency AS log LEFT JOIN accounts_user AS person ON person.id = log.user_id
        WHERE log.created_at >= %s AND conversation_id IS NOT NULL
        GROUP BY conversation_id ORDER BY latest DESC, id LIMIT %s OFFSET %s
        """,  # noqa: S608 - only constants of this module are put in
        [since, CONVERSATIONS_PER_PAGE + 1, (page - 1) * CONVERSATIONS_PER_PAGE],
    )
    for row in rows:
        row["latest"] = float(row["latest"])
        row["ttft"], row["total"] = _name_percentiles(row["ttft"]), _name_percentiles(row["total"])
    return {"rows": rows[:CONVERSATIONS_PER_PAGE], "has_more": len(rows) > CONVERSATIONS_PER_PAGE}


def summarize_conversation(conversation_id: UUID) -> dict[str, Any] | None:
    """One conversation's percentiles over all its turns; None if the log has none."""
    rows = _select(
        f"""
        SELECT MAX(person.username) AS "user", COUNT(*) AS turns,
               COUNT(*) FILTER (WHERE status = 'finished') AS finished,
               COUNT(*) FILTER (WHERE status = 'stopped') AS stopped,
               COUNT(*) FILTER (WHERE status = 'failed') AS failed,
               {_TTFT} AS ttft, {_TOTAL} AS total
        FROM latency_turnlatency AS log LEFT JOIN accounts_user AS person ON person.id = log.user_id
        WHERE conversation_id = %s
        """,  # noqa: S608 - only constants of this module are put in
        [conversation_id],
    )
    row = rows[0]
    if not row["turns"]:
        return None
    return row | {"ttft": _name_percentiles(row["ttft"]), "total": _name_percentiles(row["total"])}


def _select(sql: str, parameters: Sequence[Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
