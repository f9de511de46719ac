"""Citations that models write as a passage's number with words of it, and the quotes that they become."""

from collections.abc import Sequence

from pydantic import BaseModel

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from reasoning.citations.markers import note_missing
from reasoning.citations.quotes import find_quote, passage_text, select_quote
from reasoning.engine.session import Session

__all__ = ["CitedQuote", "check_quotes"]


class CitedQuote(BaseModel):
    passage: int
    quote: str = ""


def check_quotes(
    session: Session, citations: Sequence[CitedQuote], shown: Sequence[Hit], answer: str, question: str, step: str
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Returns the quotes as their passages have them, each once, and the texts of the passages that are evidence.

    A citation of a passage that was not shown is dropped. A quote that is not in its passage is replaced by the
    passage's best sentence, and makes the passage no evidence. Both are noted.
    """
    quotes: dict[tuple[str, int], Quote] = {}
    evidence: dict[str, str] = {}
    missing = dict.fromkeys(one.passage for one in citations if not 1 <= one.passage <= len(shown))
    note_missing(session.trace, list(missing), f" of step {step}")
    for citation in citations:
        if citation.passage in missing:
            continue
        hit = shown[citation.passage - 1]
        quote = find_quote(hit, citation.quote)
        if quote is None:
            # A quote that is in the passage and still not found is only too short to be one.
            is_real = citation.quote.strip().casefold() in passage_text(hit).casefold()
            if not is_real:
                session.trace.note(
                    f"a quote of step {step} is not in the passage that it names; its best sentence was taken"
                )
            quote = select_quote(hit, answer, question)
        else:
            is_real = True
        if is_real:
            evidence[hit.chunk.id] = passage_text(hit)
        quotes.setdefault((hit.chunk.id, quote.span.start), quote)
    return tuple(quotes.values()), tuple(evidence.values())
