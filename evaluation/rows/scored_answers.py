"""The scores of one answer: from a question, an answer and its trace to a row.

Quotes and retrieved passages have a precision and a recall against the sentences that support the question; reviews of
steps have verdicts that are right or wrong against gold answers.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from core.documents import Span
from core.events import ReviewEvent
from core.ports.reasoning import Answer
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation.datasets.dataset import (
    GoldQuestion,
)
from evaluation.rows.answer_rows import (
    AnswerRow,
    Cost,
    ReviewRow,
    StepRow,
    find_hops,
    make_plan,
    make_prompts,
    make_step,
)
from evaluation.scores import (
    contains_parts,
    distinct,
    exact_match_of_parts,
    token_f1,
    token_f1_of_parts,
)
from retrieval.supports import collapse_hits, match_supports, precision, recall

_SUPPORT_METRICS = ("union_recall", "union_precision")
ABSTENTION = "abstention"
"""The only metric of a question that the corpus does not answer: whether the reasoner abstained."""

_SENTENCE_METRICS = (
    "sentence_precision",
    "sentence_recall",
    "retrieved_sentence_precision",
    "retrieved_sentence_recall",
)

ANSWER_METRICS = ("em", "f1", "acc", "succ", "succ_retrieved", *_SUPPORT_METRICS, *_SENTENCE_METRICS, ABSTENTION)


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
        **_score_sentences(question, answer),
        ABSTENTION: float(answer.abstained),
    }


def _keep_known(question: GoldQuestion, scores: dict[str, float]) -> dict[str, float]:
    if not question.answerable:
        return {ABSTENTION: scores[ABSTENTION]}
    unknown = {ABSTENTION}
    unknown.update(() if question.supporting else _SUPPORT_METRICS)
    unknown.update(() if question.sentences else _SENTENCE_METRICS)
    return {name: score for name, score in scores.items() if name not in unknown}


def _describe(question: GoldQuestion) -> dict[str, Any]:
    """Returns the fields of a row that come from its question."""
    return {
        "type": question.type,
        "answerable": question.answerable,
        "gold_answers": question.answers,
        "supporting": tuple(sorted(support.label for support in question.supporting)),
    }


def _list_texts(hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in hits)


def _score_sentences(question: GoldQuestion, answer: Answer) -> dict[str, float]:
    """Returns the share of quotes that overlap a supporting sentence, the share of these that a quote overlaps, and the
    same for the passages that the steps retrieved (Plan*RAG, arXiv 2410.20753, table 4).

    The quotes are all quotes of the answer and its steps, except from the web; the passages are all that any step
    retrieved. Each counts once.
    """
    shown = [
        frozenset(sentence for sentence in question.sentences if sentence.overlaps(key, place))
        for key, place in _find_quotes(answer)
    ]
    hits = collapse_hits((hit for step in answer.steps for hit in step.hits), question.sentences)
    retrieved = match_supports(hits, question.sentences)
    return {
        "sentence_precision": precision(shown),
        "sentence_recall": recall(shown, question.sentences, len(shown)),
        "retrieved_sentence_precision": precision(retrieved),
        "retrieved_sentence_recall": recall(retrieved, question.sentences, len(retrieved)),
    }


def _find_quotes(answer: Answer) -> set[tuple[str, Span | None]]:
    """Returns each quote as the key of its document and its place there (None: the place is not known)."""
    hits = [
        *(hit for step in answer.steps for hit in step.hits),
        *(q.hit for step in answer.steps for q in step.quotes),
    ]
    spans = {hit.chunk.id: hit.chunk.span for hit in hits}
    quotes = [
        (citation.document.key, citation.chunk_id, citation.source_span)
        for citation in answer.citations
        if citation.url is None and not answer.abstained
    ]
    quotes += [
        (quote.hit.document.key, quote.hit.chunk.id, quote.span)
        for step in answer.steps
        for quote in step.quotes
        if quote.hit.url is None
    ]
    return {(key, _place(spans.get(chunk), span)) for key, chunk, span in quotes}


def _place(chunk: Span | None, quote: Span) -> Span | None:
    return None if chunk is None else Span(start=chunk.start + quote.start, end=chunk.start + quote.end)


_VERDICTS = ("PASS", "REVISED", "UNCONFIDENT")


def make_reviews(question: GoldQuestion, hops: Sequence[StepRow], trace: Trace) -> tuple[ReviewRow, ...]:
    """Returns each review with a verdict of PAR RAG. `hops` are the steps that answer parts of the question.

    The gold answer of a step is the answer of the hop in the same place, if there are as many steps as hops. Otherwise
    only the last step has a gold answer: the answer of the question. Reviews of other steps have no scores.
    """
    gold = _gold_answers(question, hops)
    return tuple(
        ReviewRow(
            step=event.step,
            verdict=event.verdict,
            before=event.before,
            after=event.after,
            before_f1=_score(event.before, gold.get(event.step, ())),
            after_f1=_score(event.after, gold.get(event.step, ())),
        )
        for event in trace.events
        if isinstance(event, ReviewEvent) and event.verdict in _VERDICTS
    )


def _gold_answers(question: GoldQuestion, hops: Sequence[StepRow]) -> dict[str, tuple[str, ...]]:
    if not hops or not question.answerable:
        return {}
    last = {hops[-1].id: question.answers}
    if len(hops) != len(question.hop_answers):
        return last
    return {**{hop.id: (answer,) for hop, answer in zip(hops, question.hop_answers, strict=True)}, **last}


def _score(answer: str, gold: Sequence[str]) -> float | None:
    return token_f1(answer, gold) if gold else None
