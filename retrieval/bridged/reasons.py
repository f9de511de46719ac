"""Reasons of a hit in words, from the evidence, the most telling first.

First comes the strongest link from a source to the hit, with its name and its source; then how the hit is related to a
source with the same title.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.documents import Chunk, DocumentRef
from core.execution.threads import compute
from core.ports.retrieval import Hit, Query
from retrieval.backends import RetrievalBackends
from retrieval.bridged.evidence import PoolEvidence, PoolNames
from retrieval.candidates.explanations import fetch_display_names
from retrieval.graph.snapshot import GraphSnapshot

Ints = NDArray[np.int64]

_LEAST = 0.05  # the least source weight x link that is reported: weaker links do not change the order


@dataclass(frozen=True, kw_only=True)
class SourceLink:
    """A link through `name` (its number in the pool) from a source: its row among the sources, and `at` in the pool."""

    source: int
    at: int
    name: int


def _find_strongest_link(evidence: PoolEvidence, place: int, told: Collection[int]) -> SourceLink | None:
    """Returns the strongest link of any kind, weighted by its source, to the candidate at `place`, or None.

    A title that both have, as all chunks of a document do, is returned only without another link. Only the sources in
    `told` (rows) count, and only names that are not in the question, since a shared name of the question has a reason
    of its own.
    """
    kinds = [
        (evidence.links.title, _own_title),
        (evidence.links.shared, _rarest_shared),
        (evidence.links.reverse, _title_of_source),
    ]
    alike: SourceLink | None = None
    strength = np.array([evidence.source_weight * values[:, place] for values, _ in kinds])
    for at in np.argsort(-strength, axis=None, kind="stable").tolist():
        kind, source = divmod(at, len(evidence.sources))
        if strength[kind, source] < _LEAST:
            break
        if source in told:
            source_at = int(evidence.sources[source])
            name = kinds[kind][1](evidence.names, source_at, place)
            if name is not None:
                link = SourceLink(source=source, at=source_at, name=name)
                if not _is_title_of_both(evidence.names, link, place):
                    return link
                alike = alike or link
    return alike


def _is_title_of_both(names: PoolNames, link: SourceLink, place: int) -> bool:
    """Returns whether the link is a title or heading that its two ends have alike."""
    return bool((names.titles[place] == link.name).any() and (names.titles[link.at] == link.name).any())


def _list_mentioned(names: PoolNames, place: int) -> Ints:
    """Returns the names that one candidate mentions, ascending."""
    first, end = np.searchsorted(names.owner, [place, place + 1])
    return np.sort(names.name[first:end])


def _own_title(names: PoolNames, source: int, place: int) -> int | None:
    return _best_title(names, _list_mentioned(names, source), place)


def _title_of_source(names: PoolNames, source: int, place: int) -> int | None:
    return _best_title(names, _list_mentioned(names, place), source)


def _best_title(names: PoolNames, mentioned: Ints, titled: int) -> int | None:
    """Returns the title of `titled` that `mentioned` names and the question does not; of several, the title that fewest
    chunks share.
    """
    worth = np.where(np.isin(names.titles[titled], mentioned), names.title_worth[titled], 0.0)
    worth = np.where(names.linked[names.titles[titled]], 0.0, worth) if names.size else worth
    return int(names.titles[titled, worth.argmax()]) if worth.any() else None


def _rarest_shared(names: PoolNames, source: int, place: int) -> int | None:
    shared = np.intersect1d(_list_mentioned(names, source), _list_mentioned(names, place))
    shared = shared[~names.linked[shared]]
    return int(shared[names.rarity[shared].argmax()]) if len(shared) else None


def describe_relation(chunk: Chunk, source: Chunk, title: str) -> list[str]:
    """Returns the relation in words; `title` is the title of the source. A common document alone is not named."""
    if chunk.document_id != source.document_id:
        return [f"has the title of *{title}*"]
    if abs(chunk.position - source.position) == 1:
        return [f"{'follows' if chunk.position > source.position else 'precedes'} *{title}*"]
    if chunk.heading and chunk.heading == source.heading:
        return [f"in the same section as *{title}*"]
    return []


_MOST = 4
_MOST_LISTED = 3
_LONGEST = 80
_HEADS = ("title", "heading")


@dataclass(frozen=True, kw_only=True)
class _Texts:
    """The texts that phrases use: `names` by their number in the pool, `sources` by their row among the sources."""

    evidence: PoolEvidence
    names: Mapping[int, str]
    sources: Mapping[int, "_Source"]


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A source as the record has it, and its title with its heading."""

    chunk: Chunk
    title: str


async def add_reasons(
    hits: Sequence[Hit],
    places: Sequence[int],
    evidence: PoolEvidence,
    snapshot: GraphSnapshot,
    query: Query,
    backends: RetrievalBackends,
) -> tuple[Hit, ...]:
    """Returns the hits, which are at `places` among the candidates, each with its reasons."""
    sources = await _read_sources(evidence, snapshot, query, backends)
    links = await compute(lambda: [_find_strongest_link(evidence, place, sources.keys()) for place in places])
    wanted = {name for place in places for name in _asked_names(evidence, place)} | {
        link.name for link in links if link
    }
    names = await _read_display_names(sorted(wanted), evidence, snapshot, query, backends)
    texts = _Texts(evidence=evidence, names=names, sources=sources)
    return tuple(
        replace(hit, reasons=_choose_reasons(hit, place, link, texts))
        for hit, place, link in zip(hits, places, links, strict=True)
    )


def _choose_reasons(hit: Hit, place: int, link: SourceLink | None, texts: _Texts) -> tuple[str, ...]:
    """Returns the reasons in order: the link first if its source is nearer to the question, last if the hit
    itself is.
    """
    evidence = texts.evidence
    asked = _asked_names(evidence, place)
    titled = _title_reasons(place, asked, texts)
    named = _name_reasons([name for name in asked if name not in evidence.names.titles[place]], texts)
    linked = _link_reasons(hit, link, place, texts)
    alike = link is not None and _is_title_of_both(evidence.names, link, place)
    if link is not None and not alike and _leads(link, place, evidence):
        found = [
            *titled,
            *linked,
            *_word_reasons("brings {}", place, evidence, without=link.at),
            *named,
        ]
    else:
        reached = [] if asked or linked else _path_reasons(hit)
        words = _word_reasons("has {} of the question", place, evidence)
        found = [*titled, *named, *reached, *words, *linked]
    return tuple(found[:_MOST] or _similarity_reasons(hit))


def _leads(link: SourceLink, place: int, evidence: PoolEvidence) -> bool:
    """Returns whether the source ranks before the candidate in stage 1, or alone has a name of the question."""
    ahead = bool(evidence.place[link.at] < evidence.place[place])
    return ahead or (not _asked_names(evidence, place) and bool(_asked_names(evidence, link.at)))


def _asked_names(evidence: PoolEvidence, place: int) -> list[int]:
    """Returns the names of the question that the candidate has, the rarest first."""
    names = evidence.names
    asked = [name for name in _list_mentioned(names, place).tolist() if names.linked[name]]
    return sorted(asked, key=lambda name: -names.rarity[name])


def _title_reasons(place: int, asked: Sequence[int], texts: _Texts) -> list[str]:
    heads = zip(_HEADS, texts.evidence.names.titles[place].tolist(), strict=True)
    return [
        f"its {head} is {_quote([texts.names[name]])}, which the question names"
        for head, name in heads
        if name in asked
    ]


def _name_reasons(asked: Sequence[int], texts: _Texts) -> list[str]:
    shown = list(dict.fromkeys(texts.names[name] for name in asked))
    return [f"names {_quote(shown)} of the question"] if shown else []


def _link_reasons(hit: Hit, link: SourceLink | None, place: int, texts: _Texts) -> list[str]:
    if link is None:
        return []
    titles = texts.evidence.names.titles
    own, others = titles[place].tolist(), titles[link.at].tolist()
    source, name = texts.sources[link.source], texts.names[link.name]
    if link.name in own and link.name in others:
        return describe_relation(hit.chunk, source.chunk, source.title)
    if link.name in own:
        return [f"linked from *{source.title}*, which names its {_HEADS[own.index(link.name)]}"]
    if link.name in others:
        return [f"names *{name}*, the {_HEADS[others.index(link.name)]} of a source"]
    return [f"linked from *{source.title}*: both name {_quote([name])}"]


def _word_reasons(phrase: str, place: int, evidence: PoolEvidence, *, without: int | None = None) -> list[str]:
    """Returns the phrase with the question's words outside of names that the candidate has (and another lacks)."""
    there = evidence.has_word[place] if without is None else evidence.has_word[place] & ~evidence.has_word[without]
    order = np.argsort(-evidence.question.idf, kind="stable")
    found = [evidence.question.written[word] for word in order.tolist() if there[word]]
    return [phrase.format(_quote(found))] if found else []


def _path_reasons(hit: Hit) -> list[str]:
    return [f"reached from {_quote([hit.path[0].source])} through the graph"] if hit.path else []


def _similarity_reasons(hit: Hit) -> list[str]:
    if hit.signals.dense is not None and hit.signals.dense > 0:
        return [f"like the question (cosine {hit.signals.dense:.2f})"]
    return ["has words of the question"] if hit.signals.sparse else []


def _quote(texts: Iterable[str]) -> str:
    return ", ".join(f"“{_shorten(text)}”" for text in list(texts)[:_MOST_LISTED])


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


async def _read_display_names(
    names: Sequence[int], evidence: PoolEvidence, snapshot: GraphSnapshot, query: Query, backends: RetrievalBackends
) -> dict[int, str]:
    entities = evidence.names.entities[list(names)].tolist()
    shown = await fetch_display_names(entities, snapshot, query.corpus.id, backends.contents)
    return {name: _shorten(shown[entity]) for name, entity in zip(names, entities, strict=True)}


async def _read_sources(
    evidence: PoolEvidence, snapshot: GraphSnapshot, query: Query, backends: RetrievalBackends
) -> dict[int, _Source]:
    """Returns each source that the record still has, with its title."""
    chunk_ids = snapshot.chunk_ids(evidence.chunks[evidence.sources].tolist())
    chunks = await backends.contents.get_chunks(query.corpus.id, chunk_ids)
    refs = await backends.documents.get_refs(query.corpus.id, {chunk.document_id for chunk in chunks.values()})
    return {
        row: _Source(chunk=chunk, title=_title(chunk, refs[chunk.document_id]))
        for row, chunk_id in enumerate(chunk_ids)
        if (chunk := chunks.get(chunk_id)) is not None and chunk.document_id in refs
    }


def _title(chunk: Chunk, document: DocumentRef) -> str:
    title = document.title or document.key
    return _shorten(f"{title} › {chunk.heading}" if chunk.heading else title)
