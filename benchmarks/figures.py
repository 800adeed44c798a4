"""Percentiles as the benchmarks print them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def summarize_ms(values: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds, and how many values they are of."""
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2), "p99": round(float(p99), 2), "n": len(values)}
