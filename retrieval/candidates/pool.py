"""The candidate pool of a question: the best chunks of each signal, each with all three signals."""

import asyncio
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.retrieval import Query
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.exact_words import ExactWords, find_exact_words, weigh_exact_words
from retrieval.candidates.fusion import order_by_score, weigh_graph
from retrieval.candidates.view_search import ScoredChunks, compute_cosines, fetch_vectors, search_text, search_vectors
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.interruption import run_interruptibly
from retrieval.pagerank.personalized import GraphRanking, PageRankConfig, note_limits, rank_from_question

__all__ = ["Pool", "gather_pool", "number_documents", "rank_graph"]

_BY_CAPITALS = "pattern"
_NO_VECTOR: Vectors = np.zeros(0, np.float32)


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The candidate chunks, ascending, with their cosine (`dense`), BM25 (`sparse`), PageRank mass (`graph`) and how
    far each has the question's rare words (`exact`).

    - `graph_share`: how much the graph is expected to tell about the chunks, from 0 to 1.
    - `documents`: a number for the document of each chunk.
    - `dense` is NaN for a chunk without a vector (yet). `sparse` and `graph` are 0 for a chunk that is not among the
      best, unless its value is known.
    - `vector`: the vector of the question. `vectors` (n, dimension): the vectors of the chunks, 0 for a missing vector;
      without rows if they were not requested, and without columns in a corpus without vectors.
    - `unknown`: the entries that the snapshot does not know.
    """

    chunks: NDArray[np.int64]
    dense: NDArray[np.float64]
    sparse: NDArray[np.float64]
    graph: NDArray[np.float64]
    graph_share: float
    exact: NDArray[np.float64]
    documents: NDArray[np.int64]
    pagerank: GraphRanking
    vector: Vectors
    vectors: Vectors
    unknown: tuple[str, ...] = ()


async def gather_pool(
    backends: RetrievalBackends,
    query: Query,
    snapshot: GraphSnapshot,
    trace: Trace,
    *,
    size: int,
    pagerank_config: PageRankConfig,
    with_vectors: bool = False,
) -> Pool:
    """Returns the union of the best `size` chunks by each signal; the searches run concurrently."""
    (vector, by_cosine), by_words, exact, pagerank = await asyncio.gather(
        _search_dense(backends, query, snapshot, trace, size),
        _search_sparse(backends, query, snapshot, trace, size),
        _search_exact(backends, query, snapshot, trace),
        rank_graph(query, snapshot, trace, pagerank_config),
    )
    by_mass = pagerank.chunks[order_by_score(pagerank.chunks, pagerank.mass)[:size]]
    chunks = np.unique(np.concatenate([by_cosine.chunks, by_words.chunks, exact.all_chunks, by_mass]))
    dense = _align(by_cosine, chunks, missing=np.nan)
    unknown = np.flatnonzero(np.isnan(dense))
    wanted = np.arange(len(chunks)) if with_vectors else unknown
    with trace.timed("dense"):
        vectors = await fetch_vectors(backends, query, snapshot, chunks[wanted])
    dense[unknown] = compute_cosines(vectors[unknown] if with_vectors else vectors, vector)
    sparse = _align(by_words, chunks, missing=0.0)
    graph = _align(ScoredChunks(chunks=pagerank.chunks, scores=pagerank.mass), chunks, missing=0.0)
    documents = number_documents(snapshot, chunks)
    return Pool(
        chunks=chunks,
        dense=dense,
        sparse=sparse,
        graph=graph,
        graph_share=weigh_graph(dense, sparse, graph, documents) if _knows_names(query, snapshot) else 0.0,
        exact=weigh_exact_words(exact, chunks),
        documents=documents,
        pagerank=pagerank,
        vector=vector,
        vectors=vectors if with_vectors else vectors[:0],
        unknown=tuple(dict.fromkeys((*by_cosine.unknown, *by_words.unknown))),
    )


def _knows_names(query: Query, snapshot: GraphSnapshot) -> bool:
    """Returns whether the entities are names. `pattern` finds names by capitals: in a text in capitals, it takes each
    run of words for a name.
    """
    if snapshot.statistics.is_cased or query.corpus.settings.extractor != _BY_CAPITALS:
        return True
    letters = [char for char in query.text if char.isalpha()]
    return 2 * sum(char.isupper() or char.islower() for char in letters) < len(letters)


def number_documents(snapshot: GraphSnapshot, chunks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns a number for each chunk (n,), the same for chunks of one document, from 0."""
    ids = snapshot.document_ids(chunks.tolist())
    numbers = {id: number for number, id in enumerate(sorted(set(ids)))}
    return np.array([numbers[id] for id in ids], np.int64)


async def rank_graph(query: Query, snapshot: GraphSnapshot, trace: Trace, config: PageRankConfig) -> GraphRanking:
    """Returns PageRank from the question's names, computed in a thread."""
    with trace.timed("graph"):
        ranking = await run_interruptibly(rank_from_question, snapshot, query.text, config, query.documents)
    note_limits(ranking, snapshot, trace)
    return ranking


async def _search_dense(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, size: int
) -> tuple[Vectors, ScoredChunks]:
    if not query.corpus.settings.has_vectors:
        return _NO_VECTOR, ScoredChunks(chunks=np.zeros(0, np.int64), scores=np.zeros(0))
    with trace.timed("embed"):
        vector = await backends.embedder.embed_query(query.text)
    with trace.timed("dense"):
        return vector, await search_vectors(backends, query, snapshot, vector, size)


async def _search_sparse(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, size: int
) -> ScoredChunks:
    with trace.timed("sparse"):
        return await search_text(backends, query, snapshot, size)


async def _search_exact(backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace) -> ExactWords:
    with trace.timed("exact"):
        return await find_exact_words(backends, query, snapshot)


def _align(found: ScoredChunks, chunks: NDArray[np.int64], *, missing: float) -> NDArray[np.float64]:
    """Returns the scores of `chunks` (ascending), and `missing` for chunks that were not found."""
    out = np.full(len(chunks), missing)
    among = np.isin(found.chunks, chunks)
    out[np.searchsorted(chunks, found.chunks[among])] = found.scores[among]
    return out
