"""Searches for a question and reads what is found, also in the words of an agreement that defines the names.

Open it to change what is searched for a question besides its own words.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.events import SearchEvent
from core.ports.retrieval import Hit, Query, SearchResult
from core.text.value_kinds import find_stems
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.parties import list_parties, reword_parties
from reasoning.strategies.extractive.following import read_and_follow
from reasoning.strategies.extractive.quoting.answering import LEAST, is_answered
from reasoning.strategies.extractive.quoting.reading import Reading
from reasoning.strategies.extractive.quoting.units import READ
from reasoning.strategies.extractive.quoting.writing import write_unit

__all__ = ["OPENINGS", "Look", "Searched", "find_heads", "search_and_read", "search_reworded"]

OPENINGS = 20
"""Passages among which the opening of an agreement is looked for: mails and tables have a rare name as well."""
_SURE = 0.7
"""An answer that is right as probably is not asked for again."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """A search with a question, or with the question of one `side`, and what was read. `is_version`: the side is a
    version of a document, whose passages alone were searched. `note`: the question was asked in other words.
    """

    question: str
    side: str
    hits: tuple[Hit, ...]
    reading: Reading
    seconds: float
    is_version: bool = False
    note: str = ""

    def prefer_side(self) -> "Look":
        """Returns the look with the units of passages that have the side's name as their title first, and then units of
        passages that have it in title, headings or file name: other passages only mention it.
        """
        name = find_stems(self.side)
        units, reading = self.reading.units, self.reading
        heads = [
            (find_stems(unit.hit.document.title) != name, not name <= find_stems(find_heads(unit.hit)))
            for unit in units
        ]
        order = sorted(range(len(units)), key=heads.__getitem__)
        ordered = replace(reading, units=tuple(units[at] for at in order), features=reading.features[order])
        return replace(self, reading=ordered)

    @property
    def answer(self) -> str:
        units = self.reading.units[:1]
        return write_unit(self.question, units[0]) if units else ""

    @property
    def is_about_side(self) -> bool:
        """Whether the passage of the best unit names the side, or is of it."""
        if self.is_version:
            return True
        hit = self.reading.units[0].hit
        return find_stems(self.side) <= find_stems(f"{find_heads(hit)}\n{hit.chunk.text[:READ]}")


async def search_and_read(
    backends: ReasoningBackends, query: Query, trace: Trace, *, step: str, side: str = ""
) -> Look:
    """Searches with the query and reads what is found, also where a passage refers to another place of its document."""
    began = time.monotonic()
    first = await backends.searcher.search(query, trace)
    trace.emit(SearchEvent(query=query.text, searcher=backends.searcher_name, hits=first.hits, step=step))

    async def read(found: SearchResult, query: Query) -> Searched:
        async def search(wanted: str, documents: frozenset[str], k: int) -> Sequence[Hit]:
            within = replace(query, text=wanted, documents=documents, k=k, private=True)  # words of a passage
            return (await backends.searcher.search(within, trace)).hits

        follow = None if query.parts else search
        read, reading = await read_and_follow(backends, query.corpus, query.text, found, trace, follow)
        return Searched(text=query.text, found=read, reading=reading)

    async def search_openings(text: str) -> Sequence[Hit]:
        wider = replace(query, text=text, k=OPENINGS, web=False)
        return (await backends.searcher.search(wider, trace)).hits

    async def search_again(reworded: str) -> Searched:
        again = replace(query, text=reworded, private=True)
        return await read(await backends.searcher.search(again, trace), again)

    taken = await search_reworded(await read(first, query), search_openings, search_again, trace)
    hits = taken.found.hits
    if hits != first.hits:
        trace.emit(SearchEvent(query=taken.text, searcher=backends.searcher_name, hits=hits, step=step))
    seconds = time.monotonic() - began
    return Look(question=taken.text, side=side, hits=hits, reading=taken.reading, seconds=seconds, note=taken.note)


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


def find_heads(hit: Hit) -> str:
    return f"{hit.document.title}\n{hit.chunk.heading}\n{hit.document.key}"
