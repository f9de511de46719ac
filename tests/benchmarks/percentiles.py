"""Latencies for show."""

import statistics
from collections.abc import Sequence

__all__ = ["milliseconds"]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {"p50": 1e3 * statistics.median(seconds), "p95": 1e3 * cuts[18]}
