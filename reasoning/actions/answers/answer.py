"""Answer one question from its passages, citing them by number, or say that they do not suffice."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.citations.citing import MARKERS, cited_numbers
from reasoning.citations.quoting import best_quote
from reasoning.engine.session import Call, Session

__all__ = ["Answered", "Cited", "KnownAnswer", "answer", "cited_hits", "known_block", "plain_answer", "with_sources"]


@dataclass(frozen=True, kw_only=True)
class KnownAnswer:
    """An earlier question with its answer and what that stands on."""

    question: str
    answer: str
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cited:
    """An answer, the passages that it cites, of those that were `shown`. Not `sufficient`: they did not hold it."""

    text: str
    sufficient: bool
    cited: tuple[Hit, ...]
    shown: tuple[Hit, ...]
    quotes: tuple[Quote, ...] = ()


class Answered(BaseModel):
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
) -> Cited:
    """The quotes of its citations are the best sentences of the passages, chosen by us."""
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "answer"),
        question=question,
        variables={"question": neutral(question), "known": known_block(known)},
        passages=passages,
        chunks=frozenset(quote.hit.chunk.id for one in known for quote in one.quotes),
        step=step,
    )
    said, shown = await session.structured(call, Answered)
    return with_sources(session, said, shown, question, step)


def with_sources(session: Session, said: Answered, shown: tuple[Hit, ...], question: str, step: str) -> Cited:
    """The answer with the passages that it cites, wherever their numbers were written."""
    text = plain_answer(said.answer)
    cited = cited_hits(session, [*said.citations, *cited_numbers(said.answer)], shown, step)
    return Cited(
        text=text,
        sufficient=said.sufficient and bool(text),
        cited=cited,
        shown=shown,
        quotes=tuple(best_quote(hit, text, question) for hit in cited),
    )


def plain_answer(text: str) -> str:
    """An answer without the markers that a model may have put into it: what they name is not checked."""
    return MARKERS.sub("", text).strip()


def cited_hits(session: Session, numbers: Sequence[int], shown: Sequence[Hit], step: str) -> tuple[Hit, ...]:
    """The passages of these numbers, each once; a number of none that was shown is dropped and noted."""
    valid = [number for number in dict.fromkeys(numbers) if 1 <= number <= len(shown)]
    for number in numbers:
        if not 1 <= number <= len(shown):
            where = f" of step {step}" if step else ""
            session.trace.note(f"a citation [{number}]{where} was dropped: no such passage was shown")
    return tuple(shown[number - 1] for number in valid)


def known_block(known: Sequence[KnownAnswer]) -> str:
    """Earlier questions with their answers and quotes, fenced, for a prompt."""
    if not known:
        return ""
    return "What is known already:\n" + "\n".join(
        fenced("known", "\n".join([f"Question: {one.question}", f"Answer: {one.answer}", *_quoted(one.quotes)]))
        for one in known
    )


def _quoted(quotes: Sequence[Quote]) -> list[str]:
    return [f"Quote from {quote.hit.document.title or quote.hit.document.key}: {quote.text}" for quote in quotes]
