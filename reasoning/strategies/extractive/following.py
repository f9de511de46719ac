"""Follows a reference, such as "Refer to Note 13 for legal proceedings": finds passages of the place that it names."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from core.corpora import Corpus
from core.documents import HEADING_SEPARATOR
from core.ports.retrieval import Hit, SearchResult
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.extractive.quoting.definitions import defines, list_sought_terms
from reasoning.strategies.extractive.quoting.entries import find_implied_option, has_entry
from reasoning.strategies.extractive.quoting.evidence import FEATURES
from reasoning.strategies.extractive.quoting.reading import Reading, read_hits
from reasoning.strategies.extractive.quoting.wording import is_reference

SearchWithin = Callable[[str, frozenset[str], int], Awaitable[Sequence[Hit]]]
"""Searches these documents with a text, for so many hits."""

_PLACE = re.compile(
    r"(?:\b(?:note|item|section|article|clause|chapter|paragraph|exhibit|schedule|appendix|annex"
    r"|abschnitt|kapitel|ziffer|artikel|anhang|anlage|anmerkung|chapitre|annexe)|§)\s{1,2}\d{1,3}(?:\.\d{1,3}){0,4}[a-z]?\b",
    re.IGNORECASE,
)
_IN_UNIT, _REFERS = FEATURES.index("in_unit"), FEATURES.index("refers")
_LEAST_IN_UNIT = 0.3
"""The share of the words' weight that a reference must have, so that the question is about what stands there."""
_SEARCHED = 30
_REACH = 8
"""Passages behind the beginning of a place that are of it, if they are not known by their headings."""
_MOST = 5
_DEFINING = 3
"""Units whose documents may define a term that they use."""


async def read_and_follow(
    backends: ReasoningBackends,
    corpus: Corpus,
    question: str,
    found: SearchResult,
    trace: Trace,
    search: SearchWithin | None,
) -> tuple[SearchResult, Reading]:
    """Reads the hits, and once more with passages of the place that the best reference names, if there are any.

    Returns what was read, and the reading. Without a `search`, as for several corpora, no reference is followed.
    """
    with trace.timed("quote"):
        reading = await read_hits(backends, corpus, question, found)
    known = {hit.chunk.id for hit in found.hits}
    followed = await _follow_reference(question, reading, search) if search else ()
    more = tuple(hit for hit in followed if hit.chunk.id not in known)
    if not more:
        return found, reading
    found = replace(found, hits=found.hits + more)
    with trace.timed("quote"):
        return found, await read_hits(backends, corpus, question, found)


async def _follow_reference(question: str, reading: Reading, search: SearchWithin) -> tuple[Hit, ...]:
    """Returns passages of the place that the best reference names, in the reference's document; none if no reference
    has enough words of the question or names such a place. If the best unit leads to an option of a command, the place
    is the entry of this option.
    """

    async def search_in(hit: Hit, place: str) -> Sequence[Hit]:
        return await search(f"{place}: {question}", frozenset({hit.document.id}), _SEARCHED)

    features = reading.features
    best = reading.units[0] if reading.units and features[0, _IN_UNIT] >= _LEAST_IN_UNIT else None
    if best is not None and (option := find_implied_option(best.text)):
        return tuple(hit for hit in await search_in(best.hit, option) if has_entry(option, hit))[:1]
    referring = [
        (float(row[_IN_UNIT]), unit)
        for row, unit in zip(features, reading.units, strict=True)
        if row[_REFERS] and row[_IN_UNIT] >= _LEAST_IN_UNIT
    ]
    for _, unit in sorted(referring, key=lambda item: -item[0]):
        place = _find_place(unit.text)
        if place:
            return _keep_of_place(place, await search_in(unit.hit, place))[:_MOST]
    return await _find_definitions(question, reading, search)


async def _find_definitions(question: str, reading: Reading, search: SearchWithin) -> tuple[Hit, ...]:
    """Returns the passages that define the terms that the best units use in the place of a value."""
    terms = list_sought_terms(reading.asked, question, reading.units) if reading.asked.is_question else ()
    documents = frozenset(unit.hit.document.id for unit in reading.units[:_DEFINING])
    found = [
        [hit for hit in await search(f"“{term}” means", documents, _SEARCHED) if defines(hit, term)] for term in terms
    ]
    return tuple(hit for hits in found for hit in hits[:1])


def _find_place(sentence: str) -> str:
    """Returns the last place of its document that a reference names, as in "Part I, Item 1, Note 13"; "" if none."""
    places = _PLACE.findall(sentence) if is_reference(sentence) else []
    return " ".join(places[-1].casefold().split()) if places else ""


def _keep_of_place(place: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Returns the hits whose headings name the place, or that stand behind a line that begins with its name."""
    starts = [hit.chunk.position for hit in hits if any(_begins(place, line) for line in hit.chunk.text.splitlines())]
    return tuple(
        hit
        for hit in hits
        if any(_begins(place, heading) for heading in hit.chunk.heading.split(HEADING_SEPARATOR))
        or any(start <= hit.chunk.position < start + _REACH for start in starts)
    )


def _begins(place: str, line: str) -> bool:
    words = " ".join(line.lstrip("#*|— ").casefold().split())
    return words.startswith(place) and not words[len(place) : len(place) + 1].isalnum()
