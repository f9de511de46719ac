"""Reads a question again in the words of the agreement that defines its names, and chooses between both readings."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.ports.retrieval import Hit, SearchResult
from core.trace import Trace
from reasoning.parties import list_parties, restate_parties
from reasoning.strategies.extractive.answering import LEAST, is_answered
from reasoning.strategies.extractive.reading import Reading

__all__ = ["OPENINGS", "Searched", "search_restated"]

OPENINGS = 20
"""Passages among which the opening of an agreement is looked for: mails and tables have a rare name as well."""
_SURE = 0.7
"""An answer that is right as probably is not asked for again."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The text of a question, what was found for it, and what was read."""

    text: str
    found: SearchResult
    reading: Reading


async def search_restated(
    first: Searched,
    search_openings: Callable[[str], Awaitable[Sequence[Hit]]],
    search: Callable[[str], Awaitable[Searched]],
    trace: Trace,
) -> Searched:
    """Returns what is found and read for the question in the words of an agreement, followed by the first hits.

    Returns `first` if no agreement defines the names of the question, or if another document answers better: a table
    of the staff may have the name as well. `search_openings` finds `OPENINGS` passages. The words of an agreement are
    words of a passage, which `search` must not send to the web.
    """
    parties = list_parties(first.text)
    restated = restate_parties(first.text, first.found.hits) if parties else None
    if parties and (restated is not None or first.reading.right < _SURE):
        openings = await search_openings(f"agreement between {' and '.join(parties)}")
        restated = restate_parties(first.text, (*first.found.hits, *openings))
    if restated is None:
        return first
    again = await search(restated.text)
    units = first.reading.units
    is_of_others = bool(units) and units[0].hit.document.id not in restated.documents
    answers = is_answered(again.reading, LEAST, sure=False) and again.reading.right >= first.reading.right
    if is_of_others and is_answered(first.reading, LEAST, sure=False) and not answers:
        return first
    trace.note(restated.note)
    hits = tuple({hit.chunk.id: hit for hit in (*again.found.hits, *first.found.hits)}.values())
    return replace(again, found=replace(again.found, hits=hits))
