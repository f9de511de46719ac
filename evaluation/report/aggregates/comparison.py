"""Comparison of searchers or reasoners with a baseline, question by question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evaluation.scores.bootstrap import Interval, bootstrap_interval

__all__ = ["ANSWER_COMPARED", "SEARCH_COMPARED", "Comparison", "ScoredRow", "compare"]

SEARCH_COMPARED = ("recall@5", "ndcg@10")
ANSWER_COMPARED = ("em", "f1")

_SEED = 0


class ScoredRow(Protocol):
    """A row of a searcher or a reasoner."""

    @property
    def question_id(self) -> str: ...

    @property
    def scores(self) -> Mapping[str, float]: ...


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The differences to the baseline, by metric; a positive one is better than the baseline."""

    baseline: str
    differences: Mapping[str, Interval]


def compare(
    rows: Mapping[str, Sequence[ScoredRow]], metrics: Sequence[str], baseline: str | None
) -> dict[str, Comparison]:
    """Returns the comparison of each name but the baseline; if the baseline is not among `rows`, it is the first.

    A failed question counts with its scores of 0, as in the means; a question without a metric does not count for it.
    """
    if not rows:
        return {}
    base = baseline if baseline is not None and baseline in rows else next(iter(rows))
    reference = {row.question_id: row.scores for row in rows[base]}
    return {
        name: Comparison(baseline=base, differences=dict(_differences(own, reference, metrics)))
        for name, own in rows.items()
        if name != base
    }


def _differences(
    rows: Sequence[ScoredRow], reference: Mapping[str, Mapping[str, float]], metrics: Sequence[str]
) -> Iterator[tuple[str, Interval]]:
    for metric in metrics:
        pairs = [(row.scores, reference[row.question_id]) for row in rows if metric in row.scores]
        if pairs:
            yield metric, bootstrap_interval([own[metric] - base[metric] for own, base in pairs], seed=_SEED)
