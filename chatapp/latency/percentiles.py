"""Percentiles in SQL, for every report of the log: how they are asked for, and how they are told.

They are Postgres's `percentile_cont` (linear interpolation between the two nearest ranks), over finished turns only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection

NAMES = ("p50", "p95", "p99")
MEASURES = ("ttft", "total")
# Under these a percentile is one slow turn's mood: the pages grey it.
ENOUGH_FOR_P95, ENOUGH_FOR_P99 = 20, 100

_COLUMNS_OF = """
    percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY {measure}_ms)
        FILTER (WHERE status = 'finished') AS {measure},
    COUNT({measure}_ms) FILTER (WHERE status = 'finished') AS {measure}_n
"""
# `ttft`, `ttft_n`, `total`, `total_n`. An aggregate over an order leaves nulls out: a turn without a first token
# has no place among those that have one.
PERCENTILE_COLUMNS = ",".join(_COLUMNS_OF.format(measure=measure) for measure in MEASURES)

COUNT_COLUMNS = """
    COUNT(*) AS turns,
    COUNT(*) FILTER (WHERE status = 'finished') AS finished,
    COUNT(*) FILTER (WHERE status = 'stopped') AS stopped,
    COUNT(*) FILTER (WHERE status = 'failed') AS failed
"""


def describe_measures(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """`ttft` and `total` of a row that was selected with PERCENTILE_COLUMNS: milliseconds, and how many turns."""
    return {measure: _describe_percentiles(row[measure], row[f"{measure}_n"]) for measure in MEASURES}


def _describe_percentiles(values: Sequence[float] | None, n: int) -> dict[str, Any]:
    named = dict(zip(NAMES, values or (None,) * len(NAMES), strict=True))
    return {**named, "n": n, "enough_for_p95": n >= ENOUGH_FOR_P95, "enough_for_p99": n >= ENOUGH_FOR_P99}


def select_rows(sql: str, parameters: Sequence[Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
