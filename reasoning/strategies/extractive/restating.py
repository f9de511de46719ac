"""Reads a question again in the words of the agreement that defines its names, and chooses between both readings."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from core.corpora import Corpus
from core.ports.retrieval import SearchResult
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.parties import restate_parties
from reasoning.strategies.extractive.answering import LEAST, is_answered
from reasoning.strategies.extractive.reading import Reading, read_hits

__all__ = ["Searched", "search_restated"]


@dataclass(frozen=True, kw_only=True)
class Searched:
    """The text of a question, what was found for it, and what was read."""

    text: str
    found: SearchResult
    reading: Reading


async def search_restated(
    backends: ReasoningBackends,
    corpus: Corpus,
    first: Searched,
    search: Callable[[str], Awaitable[SearchResult]],
    trace: Trace,
) -> Searched:
    """Returns what is found and read for the question in the words of an agreement, followed by the first hits.

    Returns `first` if no agreement defines the names of the question, or if another document answers better: a table
    of the staff may have the name as well.
    """
    restated = restate_parties(first.text, first.found.hits)
    if restated is None:
        return first
    found = await search(restated.text)
    with trace.timed("quote"):
        reading = await read_hits(backends, corpus, restated.text, found)
    units = first.reading.units
    is_of_others = bool(units) and units[0].hit.document.id not in restated.documents
    answers = is_answered(reading, LEAST, sure=False) and reading.right >= first.reading.right
    if is_of_others and is_answered(first.reading, LEAST, sure=False) and not answers:
        return first
    trace.note(restated.note)
    hits = tuple({hit.chunk.id: hit for hit in (*found.hits, *first.found.hits)}.values())
    return Searched(text=restated.text, found=replace(found, hits=hits), reading=reading)
