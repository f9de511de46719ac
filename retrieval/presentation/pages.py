"""`SearchPage`: the hits of a search as users read them.

First come the passages before and after each hit in its document, and one hit for each document: a search that goes on
until enough documents are found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.documents import Chunk
from core.ports.record import Contents
from core.ports.retrieval import MAX_K, Hit, Query, Searcher, SearchResult
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.interruption import check_interrupted, run_interruptibly
from retrieval.presentation.snippets import Snippet, make_snippet, weigh_words

__all__ = ["PresentedHit", "SearchPage", "Surrounded", "present", "search_by_document"]


@dataclass(frozen=True, kw_only=True)
class Surrounded:
    """A hit with neighbours, in reading order."""

    hit: Hit
    before: tuple[Chunk, ...] = ()
    after: tuple[Chunk, ...] = ()


async def _add_neighbours(hits: Sequence[Hit], corpus_id: str, contents: Contents, distance: int) -> list[Surrounded]:
    """Returns each hit with the passages that are at most `distance` away in its document, each passage once.

    A hit is no neighbour, and a passage near several hits is a neighbour of the first. A hit and its neighbours are of
    one revision: a hit has no neighbours if its passage was deleted, or is from the web.
    """
    ids = [hit.chunk.id for hit in hits if hit.url is None]
    found = await contents.get_surroundings(corpus_id, ids, distance) if distance and ids else {}
    shown = set(ids)
    surrounded: list[Surrounded] = []
    for hit in hits:
        near = found.get(hit.chunk.id, [])
        here = next((chunk for chunk in near if chunk.id == hit.chunk.id), hit.chunk)
        others = [chunk for chunk in near if chunk.id not in shown]
        shown.update(chunk.id for chunk in others)
        surrounded.append(
            Surrounded(
                hit=replace(hit, chunk=here),
                before=tuple(chunk for chunk in others if chunk.position < here.position),
                after=tuple(chunk for chunk in others if chunk.position > here.position),
            )
        )
    return surrounded


_PASSAGES = 8
"""Passages that are searched for each requested document; if they are not enough, so many times more."""


async def search_by_document(
    searcher: Searcher, query: Query, trace: Trace
) -> tuple[SearchResult, Mapping[str, tuple[Hit, ...]]]:
    """Returns the best hit of each of the `query.k` best documents, and the other hits of these documents.

    The other hits are by the id of the best hit's chunk. They rank before the first passage of any further document, so
    they do not depend on how many passages were searched. At most `MAX_K` passages are searched.
    """
    k = min(query.k * _PASSAGES, MAX_K)
    while True:
        result = await searcher.search(replace(query, k=k), trace)
        groups, enough = _group(result.hits, query.k)
        if enough or len(result.hits) < k or k == MAX_K:
            break
        k = min(k * _PASSAGES, MAX_K)
    if len(groups) < query.k and len(result.hits) == MAX_K:
        count = "one document" if len(groups) == 1 else f"{len(groups)} documents"
        trace.note(f"grouped: the first {MAX_K:,} passages are of {count}; others were not looked for")
    hits = tuple(group[0] for group in groups)
    return replace(result, hits=hits), {group[0].chunk.id: tuple(group[1:]) for group in groups}


def _group(hits: Sequence[Hit], k: int) -> tuple[list[list[Hit]], bool]:
    """Returns the hits of the first `k` documents before the first hit of another document, and whether that exists."""
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        document = (hit.corpus, hit.document.id)  # several corpora may have documents with the same key
        if document not in groups and len(groups) == k:
            return list(groups.values()), True
        groups.setdefault(document, []).append(hit)
    return list(groups.values()), False


@dataclass(frozen=True, kw_only=True)
class PresentedHit:
    """A hit with its snippet, its neighbours in reading order, and the other hits of its document, best first."""

    hit: Hit
    snippet: Snippet
    before: tuple[Chunk, ...] = ()
    after: tuple[Chunk, ...] = ()
    others: tuple[Hit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """The hits, best first, and the generation of the corpus that they were ranked in; of several, `generations`."""

    hits: tuple[PresentedHit, ...]
    generation: int
    generations: Mapping[str, int] = field(default_factory=dict)


async def present(
    result: SearchResult,
    query: Query,
    backends: RetrievalBackends,
    *,
    context: int = 0,
    others: Mapping[str, tuple[Hit, ...]] | None = None,
) -> SearchPage:
    """Returns the hits with their snippets and up to `context` passages before and after each.

    `others` are the other hits of the documents, by the id of the hit's chunk.
    """
    corpora = [part.corpus for part in query.parts] or [query.corpus]
    presented: dict[str, PresentedHit] = {}
    for number, corpus in enumerate(corpora):
        # Passages of the web are of no corpus; they are presented with the first.
        own = [hit for hit in result.hits if hit.corpus == corpus.name or (not hit.corpus and not number)]
        surrounded = await _add_neighbours(own, corpus.id, backends.contents, context)
        snapshot = await backends.snapshots.get(corpus.id)
        weights = weigh_words(query.text, snapshot.statistics)
        snippets = await run_interruptibly(_make_snippets, [found.hit.chunk.text for found in surrounded], weights)
        for found, snippet in zip(surrounded, snippets, strict=True):
            presented[found.hit.chunk.id] = _present_one(found, snippet, (others or {}).get(found.hit.chunk.id, ()))
    hits = tuple(presented[hit.chunk.id] for hit in result.hits)
    return SearchPage(hits=hits, generation=result.generation, generations=result.generations)


def _make_snippets(texts: Sequence[str], weights: Mapping[str, float]) -> list[Snippet]:
    snippets = []
    for text in texts:
        check_interrupted()
        snippets.append(make_snippet(text, weights))
    return snippets


def _present_one(surrounded: Surrounded, snippet: Snippet, others: tuple[Hit, ...]) -> PresentedHit:
    return PresentedHit(
        hit=surrounded.hit, snippet=snippet, before=surrounded.before, after=surrounded.after, others=others
    )
