"""Scores of a searcher from all its rows; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.rows.search_rows import SEARCH_MEASURES, SearchRow
from evaluation.scores.metrics import mean_of_known, percentile

__all__ = ["SearchScores", "aggregate_searches"]


@dataclass(frozen=True, kw_only=True)
class SearchScores:
    """A searcher's means over all questions; latencies in milliseconds, of the questions that did not fail."""

    means: Mapping[str, float | None]
    """None: what it compares with is unknown for all questions. Measures of grades are there only if there are some."""
    latency_ms: Mapping[str, float]
    without_embedding_ms: Mapping[str, float]
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    """The median of each stage of the trace, over the questions that have it."""
    failed: int = 0


def aggregate_searches(rows: Sequence[SearchRow]) -> SearchScores:
    """Returns the scores of one searcher's rows."""
    answered = [row for row in rows if row.error is None]
    measures = dict.fromkeys((*SEARCH_MEASURES, *(name for row in rows for name in row.scores)))
    stages = dict.fromkeys(stage for row in answered for stage in row.stages)
    return SearchScores(
        means={name: mean_of_known([row.scores.get(name) for row in rows]) for name in measures},
        latency_ms=_latency([row.seconds for row in answered]),
        without_embedding_ms=_latency([row.seconds_without_embedding for row in answered]),
        stages_ms={
            stage: 1000 * percentile([row.stages[stage] for row in answered if stage in row.stages], 0.5)
            for stage in stages
        },
        failed=len(rows) - len(answered),
    )


def _latency(seconds: Sequence[float]) -> dict[str, float]:
    return {"p50": 1000 * percentile(seconds, 0.5), "p95": 1000 * percentile(seconds, 0.95)}
