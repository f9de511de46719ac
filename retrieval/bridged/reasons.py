"""Why a hit of bridged ranking is there, in words: what the evidence says of it, the most telling first.

Titles are read from the record, and names are the hit's own, so nothing is told that the record has lost.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.documents import Chunk, DocumentRef
from core.ports.retrieval import Hit, Query
from retrieval.backends import RetrievalBackends
from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.name_links import SourceLink, find_strongest_link, list_mentioned
from retrieval.candidates.explanations import fetch_display_names
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["add_reasons"]

_MOST = 4
_MOST_LISTED = 3
_LONGEST = 80
_HEADS = ("title", "heading")


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What the phrases are made of: `names` by their number in the pool, `sources` by their row among the sources."""

    evidence: PoolEvidence
    names: Mapping[int, str]
    sources: Mapping[int, str]


async def add_reasons(
    hits: Sequence[Hit],
    places: Sequence[int],
    evidence: PoolEvidence,
    snapshot: GraphSnapshot,
    query: Query,
    backends: RetrievalBackends,
) -> tuple[Hit, ...]:
    """The hits, which are at `places` among the candidates, each with its reasons."""
    sources = await _titles(evidence, snapshot, query, backends)
    links = await asyncio.to_thread(lambda: [find_strongest_link(evidence, place, sources.keys()) for place in places])
    wanted = {name for place in places for name in _asked(evidence, place)} | {link.name for link in links if link}
    names = await _displays(sorted(wanted), evidence, snapshot, query, backends)
    told = _Told(evidence=evidence, names=names, sources=sources)
    return tuple(
        replace(hit, reasons=_reasons(hit, place, link, told))
        for hit, place, link in zip(hits, places, links, strict=True)
    )


def _reasons(hit: Hit, place: int, link: SourceLink | None, told: _Told) -> tuple[str, ...]:
    """A link tells the most where its source is nearer to the question, and the least where the hit itself is."""
    evidence = told.evidence
    asked = _asked(evidence, place)
    titled = _titled(place, asked, told)
    named = _named([name for name in asked if name not in evidence.names.titles[place]], told)
    if link is not None and _leads(link, place, evidence):
        found = [*titled, _linked(link, place, told), *_words("brings {}", place, evidence, without=link.at), *named]
    else:
        reached = [] if asked or link else _reached(hit)
        words = _words("has {} of the question", place, evidence)
        found = [*titled, *named, *reached, *words, *([_linked(link, place, told)] if link else [])]
    return tuple(found[:_MOST] or _likeness(hit))


def _leads(link: SourceLink, place: int, evidence: PoolEvidence) -> bool:
    """The source is before the candidate in stage 1, or it alone names what the question names."""
    ahead = bool(evidence.place[link.at] < evidence.place[place])
    return ahead or (not _asked(evidence, place) and bool(_asked(evidence, link.at)))


def _asked(evidence: PoolEvidence, place: int) -> list[int]:
    """The names of the question that the candidate names, the rarest first."""
    names = evidence.names
    asked = [name for name in list_mentioned(names, place).tolist() if names.linked[name]]
    return sorted(asked, key=lambda name: -names.rarity[name])


def _titled(place: int, asked: Sequence[int], told: _Told) -> list[str]:
    heads = zip(_HEADS, told.evidence.names.titles[place].tolist(), strict=True)
    return [
        f"its {head} is {_quoted([told.names[name]])}, which the question names"
        for head, name in heads
        if name in asked
    ]


def _named(asked: Sequence[int], told: _Told) -> list[str]:
    shown = list(dict.fromkeys(told.names[name] for name in asked))
    return [f"names {_quoted(shown)} of the question"] if shown else []


def _linked(link: SourceLink, place: int, told: _Told) -> str:
    titles = told.evidence.names.titles
    own, others = titles[place].tolist(), titles[link.at].tolist()
    source, name = told.sources[link.source], told.names[link.name]
    if link.name in own and link.name in others:
        return f"has the title of *{source}*"
    if link.name in own:
        return f"linked from *{source}*, which names its {_HEADS[own.index(link.name)]}"
    if link.name in others:
        return f"names *{name}*, the {_HEADS[others.index(link.name)]} of a source"
    return f"linked from *{source}*: both name {_quoted([name])}"


def _words(phrase: str, place: int, evidence: PoolEvidence, *, without: int | None = None) -> list[str]:
    """Words of the question outside of names that the candidate has (and another lacks), the rarest first."""
    there = evidence.has_word[place] if without is None else evidence.has_word[place] & ~evidence.has_word[without]
    order = np.argsort(-evidence.question.idf, kind="stable")
    found = [evidence.question.written[word] for word in order.tolist() if there[word]]
    return [phrase.format(_quoted(found))] if found else []


def _reached(hit: Hit) -> list[str]:
    return [f"reached from {_quoted([hit.path[0].source])} through the graph"] if hit.path else []


def _likeness(hit: Hit) -> list[str]:
    if hit.signals.dense is not None and hit.signals.dense > 0:
        return [f"like the question (cosine {hit.signals.dense:.2f})"]
    return ["has words of the question"] if hit.signals.sparse else []


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(f"“{_short(text)}”" for text in list(texts)[:_MOST_LISTED])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


async def _displays(
    names: Sequence[int], evidence: PoolEvidence, snapshot: GraphSnapshot, query: Query, backends: RetrievalBackends
) -> dict[int, str]:
    entities = evidence.names.entities[list(names)].tolist()
    shown = await fetch_display_names(entities, snapshot, query, backends)
    return {name: _short(shown[entity]) for name, entity in zip(names, entities, strict=True)}


async def _titles(
    evidence: PoolEvidence, snapshot: GraphSnapshot, query: Query, backends: RetrievalBackends
) -> dict[int, str]:
    """How each source is called that the record still has."""
    chunk_ids = snapshot.chunk_ids(evidence.chunks[evidence.sources].tolist())
    chunks = await backends.contents.get_chunks(query.corpus.id, chunk_ids)
    refs = await backends.documents.get_refs(query.corpus.id, {chunk.document_id for chunk in chunks.values()})
    return {
        row: _title(chunk, refs[chunk.document_id])
        for row, chunk_id in enumerate(chunk_ids)
        if (chunk := chunks.get(chunk_id)) is not None and chunk.document_id in refs
    }


def _title(chunk: Chunk, document: DocumentRef) -> str:
    title = document.title or document.key
    return _short(f"{title} › {chunk.heading}" if chunk.heading else title)
