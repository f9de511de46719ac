"""Answer one node of a plan with verbatim quotes, and say whether its passages suffice: one call for all three."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import Cited, KnownAnswer, known_block, plain_answer
from reasoning.citations.quoting import best_quote, quote_of
from reasoning.engine.session import Call, Session

__all__ = ["answer_node"]


class _Citation(BaseModel):
    passage: int
    quote: str


class _Answered(BaseModel):
    sufficient: bool
    answer: str = Field(max_length=8000)
    citations: list[_Citation]


async def answer_node(
    session: Session, question: str, passages: Sequence[Hit], *, step: str, known: Sequence[KnownAnswer] = ()
) -> Cited:
    """`known` are the answers of the node's parents with their quotes."""
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "answer_node"),
        question=question,
        variables={"question": neutral(question), "known": known_block(known)},
        passages=passages,
        chunks=frozenset(quote.hit.chunk.id for one in known for quote in one.quotes),
        step=step,
    )
    said, shown = await session.structured(call, _Answered)
    text = plain_answer(said.answer)
    quotes = _quotes(session, said.citations, shown, text, question, step)
    return Cited(
        text=text,
        sufficient=said.sufficient and bool(text),
        cited=tuple({quote.hit.chunk.id: quote.hit for quote in quotes}.values()),
        shown=shown,
        quotes=quotes,
    )


def _quotes(
    session: Session, citations: Sequence[_Citation], shown: Sequence[Hit], answer: str, question: str, step: str
) -> tuple[Quote, ...]:
    """What was not shown is not cited; what is not in the passage is not quoted: its best sentence is, and a note says
    so.
    """
    quotes: dict[tuple[str, int], Quote] = {}
    for one in citations:
        if not 1 <= one.passage <= len(shown):
            session.trace.note(f"a citation [{one.passage}] of step {step} was dropped: no such passage was shown")
            continue
        hit = shown[one.passage - 1]
        quote = quote_of(hit, one.quote)
        if quote is None:
            if one.quote.strip().casefold() not in hit.chunk.text.casefold():  # else it is only too short to tell much
                session.trace.note(
                    f"a quote of step {step} is not in the passage that it names; its best sentence was taken"
                )
            quote = best_quote(hit, answer, question)
        quotes.setdefault((hit.chunk.id, quote.span.start), quote)
    return tuple(quotes.values())
