"""The action `answer`: answers one question from its passages and cites them, or says that they do not suffice.

Other actions take `CitedAnswer` and the parsing of citations from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.citations.markers import MARKERS, parse_markers
from reasoning.citations.quotes import select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = [
    "NO_ANSWER",
    "Answered",
    "CitedAnswer",
    "answer",
    "format_known",
    "resolve_citations",
    "select_cited",
    "strip_markers",
]


@dataclass(frozen=True, kw_only=True)
class CitedAnswer:
    """An answer with the passages that it cites, of those that were `shown`.

    If it is not `sufficient`, the passages did not hold an answer.
    """

    text: str
    sufficient: bool
    cited: tuple[Hit, ...]
    shown: tuple[Hit, ...]
    quotes: tuple[Quote, ...] = ()


NO_ANSWER = CitedAnswer(text="", sufficient=False, cited=(), shown=())
"""The answer of a step that found no passages, for which no model is called."""


class Answered(BaseModel):  # its docstring is part of the schema that models are sent
    """What a model says to a question over numbered passages."""

    sufficient: bool
    answer: str = Field(max_length=8000)
    citations: list[int]


async def answer(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
) -> CitedAnswer:
    """Answers a question. The quotes are the sentences of the cited passages that support the answer best.

    `known` are answers of earlier steps. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer"),
        question=question,
        variables={"question": neutral(question), "known": format_known(known)},
        passages=passages,
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, shown = await session.complete_structured(call, Answered)
    return resolve_citations(session, reply, shown, question, step)


def resolve_citations(
    session: Session, reply: Answered, shown: tuple[Hit, ...], question: str, step: str
) -> CitedAnswer:
    """Returns the answer with the passages that it cites, in `citations` or by markers in its text."""
    text = strip_markers(reply.answer)
    cited = select_cited(session, [*reply.citations, *parse_markers(reply.answer)], shown, step)
    return CitedAnswer(
        text=text,
        sufficient=reply.sufficient and bool(text),
        cited=cited,
        shown=shown,
        quotes=tuple(select_quote(hit, text, question) for hit in cited),
    )


def strip_markers(text: str) -> str:
    """Returns an answer without the markers that a model may have put into it: nothing checks what they name."""
    return MARKERS.sub("", text).strip()


def select_cited(session: Session, numbers: Sequence[int], shown: Sequence[Hit], step: str) -> tuple[Hit, ...]:
    """Returns the passages of these numbers, each once. A number without a passage is dropped and noted."""
    valid = [number for number in dict.fromkeys(numbers) if 1 <= number <= len(shown)]
    for number in numbers:
        if not 1 <= number <= len(shown):
            where = f" of step {step}" if step else ""
            session.trace.note(f"a citation [{number}]{where} was dropped: no such passage was shown")
    return tuple(shown[number - 1] for number in valid)


def format_known(known: Sequence[KnownAnswer]) -> str:
    """Returns earlier questions with their answers and quotes for a prompt, fenced; '' if there are none."""
    if not known:
        return ""
    return "What is known already:\n" + "\n".join(
        fenced("known", "\n".join([f"Question: {one.question}", f"Answer: {one.answer}", *_format_quotes(one.quotes)]))
        for one in known
    )


def _format_quotes(quotes: Sequence[Quote]) -> list[str]:
    return [f"Quote from {quote.hit.document.title or quote.hit.document.key}: {quote.text}" for quote in quotes]
