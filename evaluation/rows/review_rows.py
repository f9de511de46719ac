"""Reviews of steps against gold answers: which verdicts were right."""

from collections.abc import Sequence

from core.events import ReviewEvent
from core.trace import Trace
from evaluation.datasets.dataset import GoldQuestion
from evaluation.rows.step_rows import ReviewRow, StepRow
from evaluation.scores.metrics import token_f1

__all__ = ["VERDICTS", "make_reviews"]

VERDICTS = ("PASS", "REVISED", "UNCONFIDENT")


def make_reviews(question: GoldQuestion, hops: Sequence[StepRow], trace: Trace) -> tuple[ReviewRow, ...]:
    """Returns each review with a verdict of PAR RAG. `hops` are the steps that answer parts of the question.

    The gold answer of a step is that of the hop in the same place, if there are as many steps as hops. Otherwise only
    the last step has one, that of the question. Reviews of other steps have no scores.
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
        if isinstance(event, ReviewEvent) and event.verdict in VERDICTS
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
