"""The row of one searcher's result for one question, with its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.ports.retrieval import Hit
from evaluation.datasets.dataset import GoldQuestion
from evaluation.datasets.supporting import collapse_hits, match_supports
from evaluation.scores.metrics import all_recall, contains_answer, recall, reciprocal_rank

__all__ = [
    "DEPTH",
    "SEARCH_MEASURES",
    "SEARCH_METRICS",
    "SearchRow",
    "score_failed_search",
    "score_search",
]

DEPTH = 10
"""The places of a ranking that are stored: the deepest cut that is reported."""

_EMBEDDING = "embed"

_SUPPORT_METRICS = ("recall@2", "recall@5", "recall@10", "all_recall@5", "mrr")

SEARCH_MEASURES = (*_SUPPORT_METRICS, "succ@5")

SEARCH_METRICS = frozenset(SEARCH_MEASURES)


@dataclass(frozen=True, kw_only=True)
class SearchRow:
    """The result of a searcher for one question.

    `ranking` are the keys of the documents at each place; a key is repeated only if places are chunks, that is if spans
    support the question. `seconds` is wall time, `stages` are the trace's.
    """

    question_id: str
    question: str
    searcher: str
    ranking: tuple[str, ...]
    scores: Mapping[str, float]
    seconds: float
    stages: Mapping[str, float]
    notes: tuple[str, ...] = ()
    error: str | None = None

    @property
    def seconds_without_embedding(self) -> float:
        return self.seconds - self.stages.get(_EMBEDDING, 0.0)


def score_search(
    question: GoldQuestion,
    searcher: str,
    hits: Sequence[Hit],
    *,
    seconds: float,
    stages: Mapping[str, float],
    notes: Sequence[str],
) -> SearchRow:
    """Returns the row of a result with its scores. Succ looks at title and text of the first five places.

    Metrics of support are left out if the supporting passages are unknown, and all if the question is not answerable.
    """
    supporting = question.supporting
    places = collapse_hits(hits, supporting)[:DEPTH]
    found = match_supports(places, supporting)
    texts = [f"{hit.document.title}\n{hit.chunk.text}" for hit in places[:5]]
    scores = {
        **{f"recall@{k}": recall(found, supporting, k) for k in (2, 5, 10)},
        "all_recall@5": all_recall(found, supporting, 5),
        "mrr": reciprocal_rank(found),
        "succ@5": contains_answer(texts, question.answers),
    }
    return SearchRow(
        question_id=question.id,
        question=question.text,
        searcher=searcher,
        ranking=tuple(hit.document.key for hit in places),
        scores=_keep_known(question, scores),
        seconds=seconds,
        stages=dict(stages),
        notes=tuple(notes),
    )


def score_failed_search(question: GoldQuestion, searcher: str, error: str) -> SearchRow:
    """Returns the row of a failed question, which scores 0 and is counted."""
    return SearchRow(
        question_id=question.id,
        question=question.text,
        searcher=searcher,
        ranking=(),
        scores=_keep_known(question, dict.fromkeys(SEARCH_MEASURES, 0.0)),
        seconds=0.0,
        stages={},
        error=error,
    )


def _keep_known(question: GoldQuestion, scores: dict[str, float]) -> dict[str, float]:
    if not question.answerable:
        return {}
    return {name: score for name, score in scores.items() if question.supporting or name not in _SUPPORT_METRICS}
