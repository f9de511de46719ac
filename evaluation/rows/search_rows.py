"""What one searcher made of one question, and what follows for the searcher from all its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.ports.retrieval import Hit
from evaluation.datasets import GoldQuestion
from evaluation.scores.metrics import (
    all_recall,
    contains_answer,
    mean_of_known,
    percentile,
    recall,
    reciprocal_rank,
)
from evaluation.scores.supporting import ranked, shown

__all__ = ["DEPTH", "SEARCH_METRICS", "SearchRow", "SearchScores", "aggregate_searches", "failed_search", "search_row"]

DEPTH = 10
"""How many places of a ranking are kept: the deepest cut that is reported."""

_EMBEDDING = "embed"
_OF_SUPPORT = ("recall@2", "recall@5", "recall@10", "all_recall@5", "mrr")
_MEASURES = (*_OF_SUPPORT, "succ@5")
SEARCH_METRICS = frozenset(_MEASURES)


@dataclass(frozen=True, kw_only=True)
class SearchRow:
    """`ranking` are the keys of the documents that hold each place; `seconds` is the wall time, `stages` the trace's.

    A key is repeated only where places are held by chunks: where spans support the question.
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


def search_row(
    question: GoldQuestion,
    searcher: str,
    hits: Sequence[Hit],
    *,
    seconds: float,
    stages: Mapping[str, float],
    notes: Sequence[str],
) -> SearchRow:
    """Score one result. Succ looks at title and text of the first five places, of a document at its best chunk's.

    What depends on the supporting passages is left out where they are not known.
    """
    supporting = question.supporting
    places = ranked(hits, supporting)[:DEPTH]
    found = shown(places, supporting)
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
        scores=_known(question, scores),
        seconds=seconds,
        stages=dict(stages),
        notes=tuple(notes),
    )


def failed_search(question: GoldQuestion, searcher: str, error: str) -> SearchRow:
    """A question that failed scores nothing, and is counted."""
    return SearchRow(
        question_id=question.id,
        question=question.text,
        searcher=searcher,
        ranking=(),
        scores=_known(question, dict.fromkeys(_MEASURES, 0.0)),
        seconds=0.0,
        stages={},
        error=error,
    )


def _known(question: GoldQuestion, scores: dict[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if question.supporting or name not in _OF_SUPPORT}


@dataclass(frozen=True, kw_only=True)
class SearchScores:
    """A searcher's means over all questions; latencies in milliseconds, of the questions that did not fail."""

    means: Mapping[str, float | None]
    """None: nothing is known of what supports the questions."""
    latency_ms: Mapping[str, float]
    without_embedding_ms: Mapping[str, float]
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    """Median by stage of the trace, over the questions that have the stage."""
    failed: int = 0


def aggregate_searches(rows: Sequence[SearchRow]) -> SearchScores:
    """The rows are those of one searcher."""
    answered = [row for row in rows if row.error is None]
    stages = dict.fromkeys(stage for row in answered for stage in row.stages)
    return SearchScores(
        means={name: mean_of_known([row.scores.get(name) for row in rows]) for name in _MEASURES},
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
