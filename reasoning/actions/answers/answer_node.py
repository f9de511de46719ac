"""The action `answer_node`: answers one node of a plan with verbatim quotes, and says whether its passages suffice.

One call does all three; the reasoner `auto` uses it.
"""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import CitedAnswer, format_known, strip_markers
from reasoning.citations.quotes import find_quote, select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

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
) -> CitedAnswer:
    """Answers a node; `known` are the answers of its parents, with their quotes.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_node"),
        question=question,
        variables={"question": neutral(question), "known": format_known(known)},
        passages=passages,
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, shown = await session.complete_structured(call, _Answered)
    text = strip_markers(reply.answer)
    quotes = _check_quotes(session, reply.citations, shown, text, question, step)
    return CitedAnswer(
        text=text,
        sufficient=reply.sufficient and bool(text),
        cited=tuple({quote.hit.chunk.id: quote.hit for quote in quotes}.values()),
        shown=shown,
        quotes=quotes,
    )


def _check_quotes(
    session: Session, citations: Sequence[_Citation], shown: Sequence[Hit], answer: str, question: str, step: str
) -> tuple[Quote, ...]:
    """Returns the quotes as their passages have them, each once.

    A citation of a passage that was not shown is dropped. A quote that is not in its passage is replaced by the
    passage's best sentence. Both are noted.
    """
    quotes: dict[tuple[str, int], Quote] = {}
    for citation in citations:
        if not 1 <= citation.passage <= len(shown):
            session.trace.note(f"a citation [{citation.passage}] of step {step} was dropped: no such passage was shown")
            continue
        hit = shown[citation.passage - 1]
        quote = find_quote(hit, citation.quote)
        if quote is None:
            # A quote that is in the passage and still not found is only too short to be one.
            if citation.quote.strip().casefold() not in hit.chunk.text.casefold():
                session.trace.note(
                    f"a quote of step {step} is not in the passage that it names; its best sentence was taken"
                )
            quote = select_quote(hit, answer, question)
        quotes.setdefault((hit.chunk.id, quote.span.start), quote)
    return tuple(quotes.values())
