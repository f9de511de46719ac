"""Reads a question again in the words of the agreement that defines its names, and chooses between both readings."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.ports.retrieval import Hit, SearchResult
from core.trace import Trace
from reasoning.parties import list_parties, reword_parties
from reasoning.strategies.extractive.answering import LEAST, is_answered
from reasoning.strategies.extractive.reading import Reading

__all__ = ["OPENINGS", "Searched", "search_reworded"]

OPENINGS = 20
"""Passages among which the opening of an agreement is looked for: mails and tables have a rare name as well."""
_SURE = 0.7
"""An answer that is right as probably is not asked for again."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The text of a question, what was found for it, what was read, and a note if it was asked in other words."""

    text: str
    found: SearchResult
    reading: Reading
    note: str = ""


async def search_reworded(
    first: Searched,
    search_openings: Callable[[str], Awaitable[Sequence[Hit]]],
    search: Callable[[str], Awaitable[Searched]],
    trace: Trace,
) -> Searched:
    """Returns what is found and read for the question in the words of an agreement, followed by the first hits.

    Returns `first` if no agreement defines the names of the question, if it is sure and the other is not, or if another
    document answers as probably: a table of the staff may have the name as well. `search_openings` finds `OPENINGS`
    passages. The words of an agreement are words of a passage, which `search` must not send to the web.
    """
    parties = list_parties(first.text) if first.reading.asked.is_question else ()
    reworded = reword_parties(first.text, first.found.hits) if parties else None
    if parties and (reworded is not None or first.reading.right < _SURE):
        openings = await search_openings(f"agreement between {' and '.join(parties)}")
        reworded = reword_parties(first.text, (*first.found.hits, *openings))
    if reworded is None:
        return first
    again = await search(reworded.text)
    units = first.reading.units
    is_of_others = bool(units) and units[0].hit.document.id not in reworded.documents
    is_answered_first = is_answered(first.reading, LEAST, sure=False)
    answers = is_answered(again.reading, LEAST, sure=False) and again.reading.right >= first.reading.right
    is_sure = first.reading.right >= _SURE > again.reading.right
    if is_answered_first and not answers and (is_of_others or is_sure):
        return first
    trace.note(reworded.note)
    hits = tuple({hit.chunk.id: hit for hit in (*again.found.hits, *first.found.hits)}.values())
    return replace(again, found=replace(again.found, hits=hits), note=reworded.note)
