"""Searches of one or several corpora. Each corpus is searched with its own embedding model, and the hits are merged.

A score of a searcher orders the hits of one corpus: it is scaled over that corpus' candidates, and cannot be compared
with a score of another corpus. Cosine, BM25 and PageRank can, roughly. So the corpora share the places of the result by
these signals, and the searcher decides which hits of a corpus take its places.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from core.corpora import Corpus
from core.ports.retrieval import MAX_K, Hit, Query, QueryPart, Searcher, SearchResult, check_searched
from core.trace import Trace, notes_about
from retrieval.candidates.fusion import fuse, weigh_graph

_DEPTH = 20
"""The least number of hits of each corpus that are compared. Places are shared better by twenty than by five."""

_DENSE, _SPARSE, _GRAPH, _EXACT = 1.0, 0.3, 1.0, 3.0
_EXPONENT = 0.25
"""The weights and the exponent are the defaults of `fused`."""

_RANKED_BY_GRAPH = frozenset({"fine", "graph", "hippo", "hippo1"})
"""Searchers whose hits have PageRank mass alone, which sums to 1 in each corpus: they get their cosines, too."""

_LEAST_COSINE = -1.0


class AcrossCorpora:
    """Implements `Searcher` for queries with and without `parts`. `of` returns the searcher for one corpus."""

    def __init__(self, name: str, of: Callable[[Corpus], Searcher]) -> None:
        self._needs_cosines = name in _RANKED_BY_GRAPH
        self._of = of

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._of(corpus), corpus)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        if not query.parts:
            result = await self._of(query.corpus).search(query, trace)
            return replace(result, generations={query.corpus.name: result.generation})
        results = await asyncio.gather(*(self._search_part(query, part, trace) for part in query.parts))
        return _merge(query, results, trace)

    async def _search_part(self, query: Query, part: QueryPart, trace: Trace) -> SearchResult:
        least = query.min_similarity
        if least is None and self._needs_cosines and part.corpus.settings.has_vectors:
            least = _LEAST_COSINE  # so that the hits have a cosine
        one = replace(
            query,
            corpus=part.corpus,
            documents=part.documents,
            parts=(),
            k=min(max(query.k, _DEPTH), MAX_K),
            min_similarity=least,
        )
        with notes_about(part.corpus.name):
            return await self._of(part.corpus).search(one, trace)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A place of the merged ranking: the corpus, by number, whose next hit takes it, and the score of that hit."""

    corpus: int
    score: float


def _merge(query: Query, results: Sequence[SearchResult], trace: Trace) -> SearchResult:
    models: dict[str, list[int]] = {}
    for number, part in enumerate(query.parts):
        models.setdefault(part.corpus.settings.embedding_model, []).append(number)
    if len(models) > 1:
        trace.note(
            "several corpora: they have different embedding models, or one has none, and their cosines cannot be "
            "compared; the corpora of each model get as many passages as those of the next"
        )
    shared = [_share_places([(at, results[at].hits) for at in group]) for group in models.values()]
    places = shared[0] if len(shared) == 1 else _interleave(shared)
    hits = tuple(_take(places, results, query.k))
    kept = {hit.chunk.id for hit in hits}
    turns = zip_longest(*(result.facts for result in results))
    facts = tuple(fact for turn in turns for fact in turn if fact is not None and fact.chunk_id in kept)
    return SearchResult(
        hits=hits,
        generation=results[0].generation,
        generations={p.corpus.name: result.generation for p, result in zip(query.parts, results, strict=True)},
        linked={name: weight for result in reversed(results) for name, weight in result.linked.items()},
        facts=tuple(dict.fromkeys(facts)),
        named=frozenset().union(*(result.named for result in results)),
    )


def _share_places(found: Sequence[tuple[int, Sequence[Hit]]]) -> list[_Place]:
    """Returns one place for each hit of corpora with one embedding model, best first, by the fused signals of all."""
    rows = [(rank, number, hit) for number, hits in found for rank, hit in enumerate(hits)]
    signals = [hit.signals for _, _, hit in rows]
    dense, sparse, graph, exact = (
        _column(getattr(one, name) for one in signals) for name in ("dense", "sparse", "graph", "exact")
    )
    documents = _number_documents(hit for _, _, hit in rows)
    share = weigh_graph(np.nan_to_num(dense), np.nan_to_num(sparse), np.nan_to_num(graph), documents)
    weights = (_DENSE, _SPARSE, _GRAPH * share)
    fused = fuse(dense, sparse, graph, weights=weights, exponent=_EXPONENT) + _EXACT * np.nan_to_num(exact)
    scores = fused.tolist()
    order = sorted(range(len(rows)), key=lambda at: (-scores[at], rows[at][:2]))
    return [_Place(corpus=rows[at][1], score=scores[at]) for at in order]


def _interleave(groups: Sequence[Sequence[_Place]]) -> list[_Place]:
    """Returns the places of all groups in turn: rank fusion of rankings that share no passage."""
    turns = [[place for place in turn if place is not None] for turn in zip_longest(*groups)]
    return [replace(place, score=1.0 / rank) for rank, turn in enumerate(turns, start=1) for place in turn]


def _take(places: Iterable[_Place], results: Sequence[SearchResult], k: int) -> Iterator[Hit]:
    """Yields the hits that take the first `k` places. A passage that several corpora have is taken once."""
    waiting = [iter(result.hits) for result in results]
    seen: set[str] = set()
    for place in places:
        hit = next((hit for hit in waiting[place.corpus] if hit.chunk.id not in seen), None)
        if hit is not None:
            seen.add(hit.chunk.id)
            yield replace(hit, score=place.score)
        if len(seen) == k:
            return


def _number_documents(hits: Iterable[Hit]) -> NDArray[np.int64]:
    numbers: dict[tuple[str, str], int] = {}
    return np.array([numbers.setdefault((hit.corpus, hit.document.id), len(numbers)) for hit in hits], np.int64)


def _column(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
