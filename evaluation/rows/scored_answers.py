"""The scores of one answer: from a question, an answer and its trace to a row."""

from collections.abc import Iterable, Sequence
from typing import Any

from core.ports.reasoning import Answer
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation.datasets.dataset import GoldQuestion
from evaluation.datasets.supporting import collapse_hits, match_supports
from evaluation.rows.answer_rows import AnswerRow, Cost
from evaluation.rows.review_rows import make_reviews
from evaluation.rows.sentence_scores import SENTENCE_METRICS, score_sentences
from evaluation.rows.step_rows import find_hops, make_plan, make_prompts, make_step
from evaluation.scores.metrics import (
    contains_parts,
    distinct,
    exact_match_of_parts,
    precision,
    recall,
    token_f1_of_parts,
)

__all__ = ["ABSTENTION", "ANSWER_METRICS", "score_answer", "score_failed_answer"]

_SUPPORT_METRICS = ("union_recall", "union_precision")
ABSTENTION = "abstention"
"""The only metric of a question that the corpus does not answer: whether the reasoner abstained."""
ANSWER_METRICS = ("em", "f1", "acc", "succ", "succ_retrieved", *_SUPPORT_METRICS, *SENTENCE_METRICS, ABSTENTION)


def score_answer(
    question: GoldQuestion, reasoner: str, answer: Answer, *, seconds: float, trace: Trace, unsupported: str = ""
) -> AnswerRow:
    """Returns the row of an answer with its scores. The text of an abstention is not a prediction, so it scores
    nothing.

    `succ` looks at the evidence that the final call was shown (`Answer.shown`), or without such a call at the passages
    that the last step retrieved; `succ_retrieved` looks at the passages that any step retrieved. Metrics of support are
    left out if the supporting passages or sentences are unknown, and all but `abstention` for a question that is not
    answerable.
    """
    every = [hit for step in answer.steps for hit in step.hits]
    context = answer.shown
    if context is None:
        context = _list_texts(answer.steps[-1].hits if answer.steps else ())
    passages = _list_texts({hit.chunk.id: hit for hit in every}.values())
    steps = tuple(make_step(step, question.supporting) for step in answer.steps)
    return AnswerRow(
        question_id=question.id,
        question=question.text,
        reasoner=reasoner,
        answer=answer.plain,
        abstained=answer.abstained,
        retrieved=distinct(hit.document.key for hit in every),
        scores=_keep_known(question, _compute_scores(question, answer, every, context, passages)),
        seconds=seconds,
        cost=Cost.of(trace),
        unsupported=unsupported,
        support=answer.support.value,
        note=answer.note,
        steps=steps,
        plan=make_plan(trace),
        reviews=make_reviews(question, find_hops(question.text, steps) or steps, trace),
        prompts=make_prompts(trace),
        shown=tuple(context),
        passages=passages,
        chunks=distinct(hit.chunk.id for hit in every if hit.url is None),
        notes=tuple(trace.notes),
        **_describe(question),
    )


def score_failed_answer(
    question: GoldQuestion,
    reasoner: str,
    error: str,
    *,
    seconds: float = 0.0,
    cost: Cost | None = None,
    unsupported: str = "",
) -> AnswerRow:
    """Returns the row of a failed question, which scores 0 and is counted."""
    return AnswerRow(
        question_id=question.id,
        question=question.text,
        reasoner=reasoner,
        answer="",
        abstained=False,
        retrieved=(),
        scores=_keep_known(question, dict.fromkeys(ANSWER_METRICS, 0.0)),
        seconds=seconds,
        cost=cost or Cost(),
        unsupported=unsupported,
        error=error,
        **_describe(question),
    )


def _compute_scores(
    question: GoldQuestion, answer: Answer, every: Sequence[Hit], context: Sequence[str], passages: Sequence[str]
) -> dict[str, float]:
    found = match_supports(collapse_hits(every, question.supporting), question.supporting)
    prediction = "" if answer.abstained else answer.plain
    parts = question.answers_by_part
    return {
        "em": exact_match_of_parts(prediction, parts),
        "f1": token_f1_of_parts(prediction, parts),
        "acc": contains_parts([prediction], parts),
        "succ": contains_parts(context, parts),
        "succ_retrieved": contains_parts(passages, parts),
        "union_recall": recall(found, question.supporting, len(found)),
        "union_precision": precision(found),
        **score_sentences(question, answer),
        ABSTENTION: float(answer.abstained),
    }


def _keep_known(question: GoldQuestion, scores: dict[str, float]) -> dict[str, float]:
    if not question.answerable:
        return {ABSTENTION: scores[ABSTENTION]}
    unknown = {ABSTENTION}
    unknown.update(() if question.supporting else _SUPPORT_METRICS)
    unknown.update(() if question.sentences else SENTENCE_METRICS)
    return {name: score for name, score in scores.items() if name not in unknown}


def _describe(question: GoldQuestion) -> dict[str, Any]:
    """Returns the fields of a row that are those of its question."""
    return {
        "type": question.type,
        "answerable": question.answerable,
        "gold_answers": question.answers,
        "supporting": tuple(sorted(one.label for one in question.supporting)),
    }


def _list_texts(hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in hits)
