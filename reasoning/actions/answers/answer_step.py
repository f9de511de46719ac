"""The action `answer_step`: answers one node of a plan with quotes, and says what its answer stands on.

Unless the answer is stated, the same call writes a query for what is missing. The reasoner `auto` uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from core.errors import MalformedReply
from core.ports.reasoning import Support
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import CitedAnswer, format_finding, format_known
from reasoning.actions.cited_quotes import CitedQuote, check_quotes
from reasoning.actions.distinct_texts import take_distinct
from reasoning.actions.support import SupportWord, format_support_rule, grade
from reasoning.citations.markers import strip_markers
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, chunk_ids_of, list_evidence

__all__ = ["MAX_VALUES", "StepAnswer", "answer_step"]

MAX_VALUES = 20


@dataclass(frozen=True, kw_only=True)
class StepAnswer:
    """The answer of a step; `values` are its parts, mostly one. `query` asks for what is missing ('' if nothing)."""

    answer: CitedAnswer = field(default_factory=CitedAnswer)
    values: tuple[str, ...] = ()
    query: str = ""


class _Answered(BaseModel):
    answers: list[str]
    support: SupportWord
    unstated: str = ""
    citations: list[CitedQuote] = []
    query: str = ""


async def answer_step(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    known: Sequence[KnownAnswer] = (),
    earlier: StepAnswer | None = None,
    facts: Sequence[Fact] = (),
) -> StepAnswer:
    """Answers a step of the question `purpose`. `known` are the answers of its parents, with their quotes; `earlier` is
    the answer of a look at other passages.

    A reply that cannot be read twice counts as no answer, and a note says so. Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_step"),
        question=question,
        variables={
            "purpose": fenced("question", purpose),
            "known": format_known(known),
            "earlier": _format_earlier(question, earlier),
            "support": format_support_rule(session),
            "question": fenced("question", question),
        },
        passages=passages,
        facts=facts,
        chunks=chunk_ids_of(known),
        step=step,
    )
    try:
        reply, shown = await session.complete_structured(call, _Answered)
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        session.trace.note(f"step {step} was not answered: {error}")
        return StepAnswer()
    values = take_distinct(session, map(strip_markers, reply.answers), MAX_VALUES, "answers of a step")
    text = "; ".join(values)
    quotes, evidence = check_quotes(session, reply.citations, shown, text, question, step)
    graded = grade(session, reply, text, [*evidence, *list_evidence(known)], question, step=step)
    if graded.support in (Support.NONE, Support.MEMORY):
        quotes = ()
    answer = CitedAnswer(
        text=graded.text,
        support=graded.support,
        unstated=graded.unstated,
        cited=tuple({quote.hit.chunk.id: quote.hit for quote in quotes}.values()),
        shown=shown,
        quotes=quotes,
    )
    query = "" if graded.support is Support.STATED else " ".join(reply.query.split())
    return StepAnswer(answer=answer, values=values if answer.found else (), query=query)


def _format_earlier(question: str, earlier: StepAnswer | None) -> str:
    if earlier is None:
        return ""
    answer = earlier.answer
    finding = KnownAnswer(
        question=question, answer=answer.text or UNKNOWN, support=answer.support, unstated=answer.unstated
    )
    lines = [f"Other passages, read before, gave:\n{fenced('known', format_finding(finding))}"]
    if earlier.query:
        lines.append(f"The passages above were searched for with:\n{fenced('question', earlier.query)}")
    return "\n".join(lines)
