"""Citations that models write as a passage's number with words of it, and the quotes that they become."""

from collections.abc import Sequence

from pydantic import BaseModel

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from reasoning.citations.markers import note_missing
from reasoning.citations.quotes import find_quote, select_quote
from reasoning.engine.session import Session

__all__ = ["CitedQuote", "check_quotes"]


class CitedQuote(BaseModel):
    passage: int
    quote: str = ""


def check_quotes(
    session: Session, citations: Sequence[CitedQuote], shown: Sequence[Hit], answer: str, question: str, step: str
) -> tuple[Quote, ...]:
    """Returns the quotes as their passages have them, each once.

    A citation of a passage that was not shown is dropped. A quote that is not in its passage is replaced by the
    passage's best sentence. Both are noted.
    """
    quotes: dict[tuple[str, int], Quote] = {}
    missing = dict.fromkeys(one.passage for one in citations if not 1 <= one.passage <= len(shown))
    note_missing(session.trace, list(missing), f" of step {step}")
    for citation in citations:
        if citation.passage in missing:
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
