"""Ranked chunks as hits: chunks and documents are read from the record, so what it deleted is never returned.

The end has the option `min_similarity` for searchers that do not rank by the cosine, and the ranking of searchers that
start from names for a question that names no entity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.documents import Chunk, DocumentRef
from core.ports.retrieval import MAX_K, Hit, Query, SearchResult, Signals
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import compute_cosines, fetch_vectors, is_replaced, search_text, search_vectors
from retrieval.candidates.explanations import add_paths, fetch_display_names
from retrieval.candidates.fusion import order_by_score
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import GraphRanking

_Signal = NDArray[np.float64] | None


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Candidates in any order, with their scores and raw signals (None: not computed).

    `unknown` are further view entries that were found and that the snapshot does not know.
    """

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]
    dense: _Signal = None
    sparse: _Signal = None
    graph: _Signal = None
    exact: _Signal = None
    unknown: tuple[str, ...] = ()


async def build_result(
    ranking: Ranking,
    query: Query,
    snapshot: GraphSnapshot,
    backends: RetrievalBackends,
    trace: Trace,
    pagerank: GraphRanking | None = None,
) -> SearchResult:
    """Returns the best `k` candidates that are similar enough, are in the record and belong to the requested
    documents.
    """
    with trace.timed("read"):
        order = order_by_score(ranking.chunks, ranking.scores)
        if query.min_similarity is not None and ranking.dense is not None:
            order = order[ranking.dense[order] >= query.min_similarity]
        read, is_missing = await _read_chunks(query, snapshot, backends, ranking.chunks[order])
        kept = [place for place in order if int(ranking.chunks[place]) in read][: query.k]
        hits = [_make_hit(ranking, place, query.corpus.name, *read[int(ranking.chunks[place])]) for place in kept]
        outdated = is_missing or await is_replaced(ranking.unknown, query, snapshot, backends)
        linked = await _name_links(query, snapshot, backends, pagerank)
    if query.explain and pagerank is not None and len(pagerank.entities):
        with trace.timed("explain"):
            hits = await add_paths(hits, snapshot, pagerank, query, backends)
    return SearchResult(hits=tuple(hits), generation=snapshot.generation, linked=linked, outdated=outdated)


async def _read_chunks(
    query: Query, snapshot: GraphSnapshot, backends: RetrievalBackends, best_first: NDArray[np.int64]
) -> tuple[dict[int, tuple[Chunk, DocumentRef]], bool]:
    """Reads the best `k` chunks, and the next chunk for each chunk that is missing from the record.

    Returns also whether a chunk is missing.
    """
    read: dict[int, tuple[Chunk, DocumentRef]] = {}
    at = 0
    while len(read) < query.k and at < len(best_first):
        batch: Sequence[int] = best_first[at : at + query.k - len(read)].tolist()
        at += len(batch)
        ids = dict(zip(snapshot.chunk_ids(batch), batch, strict=True))
        chunks = await backends.contents.get_chunks(query.corpus.id, list(ids))
        refs = await backends.documents.get_refs(query.corpus.id, {chunk.document_id for chunk in chunks.values()})
        for chunk in chunks.values():
            if chunk.document_id in refs:
                read[ids[chunk.id]] = chunk, refs[chunk.document_id]
    return read, len(read) < at


def _make_hit(ranking: Ranking, place: int, corpus: str, chunk: Chunk, document: DocumentRef) -> Hit:
    signals = Signals(
        dense=_known_value(ranking.dense, place),
        sparse=_known_value(ranking.sparse, place),
        graph=_known_value(ranking.graph, place),
        exact=_known_value(ranking.exact, place),
    )
    return Hit(chunk=chunk, document=document, score=float(ranking.scores[place]), signals=signals, corpus=corpus)


def _known_value(signal: _Signal, place: int) -> float | None:
    return None if signal is None or np.isnan(signal[place]) else float(signal[place])


async def _name_links(
    query: Query, snapshot: GraphSnapshot, backends: RetrievalBackends, pagerank: GraphRanking | None
) -> dict[str, float]:
    if pagerank is None or not len(pagerank.entities):
        return {}
    names = await fetch_display_names(pagerank.entities.tolist(), snapshot, query.corpus.id, backends.contents)
    weights = zip(names.values(), pagerank.weights.tolist(), strict=True)
    return dict(sorted(weights, key=lambda pair: (-pair[1], pair[0])))


_SPARE = 10
"""Candidates beyond `k`, as a few may be missing from the record."""


def count_candidates(query: Query) -> int:
    """Returns how many candidates are needed for `k` hits; all that are allowed if some may not be similar enough."""
    return MAX_K if query.min_similarity is not None else query.k + _SPARE


async def add_cosines(
    ranking: Ranking, backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace
) -> Ranking:
    """Returns the ranking with the cosine of each candidate if the query sets `min_similarity`, else unchanged."""
    if query.min_similarity is None:
        return ranking
    with trace.timed("embed"):
        vector = await backends.embedder.embed_query(query.text)
    with trace.timed("dense"):
        vectors = await fetch_vectors(backends, query, snapshot, ranking.chunks)
        return replace(ranking, dense=compute_cosines(vectors, vector))


async def search_by_cosine(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace
) -> SearchResult:
    """Ranks by the cosine alone."""
    with trace.timed("embed"):
        vector = await backends.embedder.embed_query(query.text)
    with trace.timed("dense"):
        found = await search_vectors(backends, query, snapshot, vector, count_candidates(query))
    ranking = Ranking(chunks=found.chunks, scores=found.scores, dense=found.scores, unknown=found.unknown)
    return await build_result(ranking, query, snapshot, backends, trace)


async def search_unlinked(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace
) -> SearchResult:
    """Ranks by the cosine, or by BM25 in a corpus without vectors."""
    if query.corpus.settings.has_vectors:
        return await search_by_cosine(backends, query, snapshot, trace)
    with trace.timed("sparse"):
        found = await search_text(backends, query, snapshot, count_candidates(query))
    ranking = Ranking(chunks=found.chunks, scores=found.scores, sparse=found.scores, unknown=found.unknown)
    return await build_result(ranking, query, snapshot, backends, trace)


def describe_unlinked(query: Query) -> str:
    """Returns how `search_unlinked` ranks, for notes."""
    return "cosine (dense)" if query.corpus.settings.has_vectors else "BM25 (sparse)"
