"""Thresholds for CI (`--fail-under`): `recall@5=.7`, or of one searcher `fused/recall@5=.7`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidInput
from evaluation.rows.scored_answers import ANSWER_METRICS
from evaluation.rows.search_rows import SEARCH_METRICS

__all__ = ["Threshold", "find_shortfalls", "parse_threshold"]

_METRICS = SEARCH_METRICS.union(ANSWER_METRICS)


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """The least value of a metric. `of` is the searcher or reasoner; empty: each that has the metric."""

    of: str
    metric: str
    least: float


def parse_threshold(text: str) -> Threshold:
    """Returns the threshold of `[NAME/]METRIC=VALUE`; raises `InvalidInput` if it is wrong."""
    target, _, value = text.rpartition("=")
    of, _, metric = target.rpartition("/")
    if metric not in _METRICS:
        known = ", ".join(sorted(_METRICS))
        raise InvalidInput(f"--fail-under {text!r}: there is no metric {metric!r}; there are: {known}")
    try:
        least = float(value)
    except ValueError as error:
        raise InvalidInput(f"--fail-under {text!r}: {value!r} is not a number; write recall@5=.7") from error
    if not 0 <= least <= 1:
        raise InvalidInput(f"--fail-under {text!r}: metrics are fractions, so the limit is between 0 and 1")
    return Threshold(of=of, metric=metric, least=least)


def find_shortfalls(thresholds: Sequence[Threshold], reports: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns one sentence for each value below a threshold; each dataset counts by itself.

    Raises `InvalidInput` for a threshold whose metric was not measured, since it would always hold.
    """
    failures = []
    for threshold in thresholds:
        values = [found for report in reports for found in _values(threshold, report)]
        if not values:
            what = f"{threshold.of}/{threshold.metric}" if threshold.of else threshold.metric
            raise InvalidInput(f"--fail-under {what}: nothing that was run has this metric")
        failures += [
            f"{place} is {value:.3f}, below {threshold.least:g}" for place, value in values if value < threshold.least
        ]
    return failures


def _values(threshold: Threshold, report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    kind = "searchers" if threshold.metric in SEARCH_METRICS else "reasoners"
    for name, scores in report[kind].items():
        value = scores.get(threshold.metric)
        if threshold.of in ("", name) and value is not None:
            yield f"{report['dataset']}: {name} {threshold.metric}", value
