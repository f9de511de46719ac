"""The row of one searcher's result for one question, with its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.ports.retrieval import Hit
from evaluation.datasets.dataset import (
    GoldQuestion,
)
from evaluation.rows.answer_rows import Cost, ModelRow
from evaluation.scores import (
    GRADED_MEASURES,
    contains_parts,
    measure_graded,
)
from retrieval.supports import all_recall, collapse_hits, match_supports, recall, reciprocal_rank

DEPTH = 10
"""The places of a ranking that are stored: the deepest cut that is reported."""

DEEP = 100
"""The same of a question with grades."""

_EMBEDDING = "embed"

_SUPPORT_METRICS = ("recall@2", "recall@5", "recall@10", "all_recall@5", "mrr")

_ANSWER_METRIC = "succ@5"

SEARCH_MEASURES = (*_SUPPORT_METRICS, _ANSWER_METRIC)

SEARCH_METRICS = frozenset((*SEARCH_MEASURES, *GRADED_MEASURES))


@dataclass(frozen=True, kw_only=True)
class SearchRow:
    """The result of a searcher for one question.

    `ranking` are the keys of the documents at each place; a key is repeated only if places are chunks, that is if spans
    support the question. `seconds` is wall time, `stages` are from the trace. `cost` is the cost of model calls, and
    `models` are the models of a searcher that asks any.
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
    cost: Cost = field(default_factory=Cost)
    models: tuple[ModelRow, ...] = ()

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

    Metrics of support are left out if the supporting passages are unknown, succ if the answer is, and all if the
    question is not answerable. A question with grades has further metrics. For these questions, a passage with their
    own id and text is left out, as BEIR does: some of its collections ask with passages of the corpus.
    """
    supporting = question.supporting
    if question.grades:
        hits = [hit for hit in hits if not _is_asked(hit, question)]
    places = collapse_hits(hits, supporting)[: DEEP if question.grades else DEPTH]
    found = match_supports(places, supporting)
    texts = [f"{hit.document.title}\n{hit.chunk.text}" for hit in places[:5]]
    scores = {
        **{f"recall@{k}": recall(found, supporting, k) for k in (2, 5, 10)},
        "all_recall@5": all_recall(found, supporting, 5),
        "mrr": reciprocal_rank(found[:DEPTH]),
        _ANSWER_METRIC: contains_parts(texts, question.answers_by_part),
    }
    if question.grades:
        scores.update(measure_graded([hit.document.key for hit in places], question.grades))
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
    measures = (*SEARCH_MEASURES, *(GRADED_MEASURES if question.grades else ()))
    return SearchRow(
        question_id=question.id,
        question=question.text,
        searcher=searcher,
        ranking=(),
        scores=_keep_known(question, dict.fromkeys(measures, 0.0)),
        seconds=0.0,
        stages={},
        error=error,
    )


def _keep_known(question: GoldQuestion, scores: dict[str, float]) -> dict[str, float]:
    if not question.answerable:
        return {}
    unknown = set() if question.supporting else {*_SUPPORT_METRICS}
    unknown.update(() if question.answers else (_ANSWER_METRIC,))
    return {name: score for name, score in scores.items() if name not in unknown}


def _is_asked(hit: Hit, question: GoldQuestion) -> bool:
    """Returns whether a hit is the question itself."""
    return hit.document.key == question.id and " ".join(hit.chunk.text.split()) in " ".join(question.text.split())
