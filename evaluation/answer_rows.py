"""What one reasoner made of one question, and what follows for the reasoner from all its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.ports.reasoning import Answer
from core.ports.retrieval import Hit
from evaluation.datasets import GoldQuestion
from evaluation.metrics import contains_answer, distinct, exact_match, mean, precision, recall, token_f1
from evaluation.supporting import ranked, shown

__all__ = ["ANSWER_METRICS", "AnswerRow", "aggregate_answers", "answer_row", "failed_answer"]

_MEASURES = ("em", "f1", "acc", "succ", "succ_retrieved", "union_recall", "union_precision")
ANSWER_METRICS = frozenset(_MEASURES)


@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """`retrieved` are the keys of all documents that any step retrieved."""

    question_id: str
    question: str
    reasoner: str
    answer: str
    abstained: bool
    retrieved: tuple[str, ...]
    scores: dict[str, float]
    seconds: float
    error: str | None = None


def answer_row(question: GoldQuestion, reasoner: str, answer: Answer, *, seconds: float) -> AnswerRow:
    """Score one answer. An abstention's text is no prediction, so it scores nothing for what it happens to say.

    `succ` looks at what the final step was shown, `succ_retrieved` at what any step retrieved.
    """
    every = [hit for step in answer.steps for hit in step.hits]
    last = answer.steps[-1].hits if answer.steps else ()
    found = shown(ranked(every, question.supporting), question.supporting)
    prediction = "" if answer.abstained else answer.text
    scores = {
        "em": exact_match(prediction, question.answers),
        "f1": token_f1(prediction, question.answers),
        "acc": contains_answer([prediction], question.answers),
        "succ": contains_answer(_shown(last), question.answers),
        "succ_retrieved": contains_answer(_shown(every), question.answers),
        "union_recall": recall(found, question.supporting, len(found)),
        "union_precision": precision(found),
    }
    return AnswerRow(
        question_id=question.id,
        question=question.text,
        reasoner=reasoner,
        answer=answer.text,
        abstained=answer.abstained,
        retrieved=distinct(hit.document.key for hit in every),
        scores=scores,
        seconds=seconds,
    )


def failed_answer(question: GoldQuestion, reasoner: str, error: str) -> AnswerRow:
    """A question that failed scores nothing, and is counted."""
    return AnswerRow(
        question_id=question.id,
        question=question.text,
        reasoner=reasoner,
        answer="",
        abstained=False,
        retrieved=(),
        scores=dict.fromkeys(_MEASURES, 0.0),
        seconds=0.0,
        error=error,
    )


def aggregate_answers(rows: Sequence[AnswerRow]) -> dict[str, Any]:
    """A reasoner's means over all questions; seconds over those that did not fail. The rows are those of one."""
    answered = [row for row in rows if row.error is None]
    return {
        **{name: mean([row.scores[name] for row in rows]) for name in _MEASURES},
        "seconds_per_query": mean([row.seconds for row in answered]),
        "abstained": sum(row.abstained for row in rows),
        "failed": len(rows) - len(answered),
    }


def _shown(hits: Sequence[Hit]) -> list[str]:
    return [f"{hit.document.title}\n{hit.chunk.text}" for hit in hits]
