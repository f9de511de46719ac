"""Reads a question again in the words of the agreement that defines its names, and chooses between both readings."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from core.ports.retrieval import SearchResult
from core.trace import Trace
from reasoning.parties import restate_parties
from reasoning.strategies.extractive.answering import LEAST, is_answered
from reasoning.strategies.extractive.reading import Reading

__all__ = ["Searched", "search_restated"]


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The text of a question, what was found for it, and what was read."""

    text: str
    found: SearchResult
    reading: Reading


async def search_restated(first: Searched, search: Callable[[str], Awaitable[Searched]], trace: Trace) -> Searched:
    """Returns what is found and read for the question in the words of an agreement, followed by the first hits.

    Returns `first` if no agreement defines the names of the question, or if another document answers better: a table
    of the staff may have the name as well. The words of an agreement are words of a passage, which `search` must not
    send to the web.
    """
    restated = restate_parties(first.text, first.found.hits)
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
