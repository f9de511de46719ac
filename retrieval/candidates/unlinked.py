"""The ranking of searchers that start from names, for a question that names no entity."""

from core.ports.retrieval import Query, SearchResult
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.min_similarity import count_candidates
from retrieval.candidates.results import Ranking, build_result
from retrieval.candidates.view_search import search_text, search_vectors
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["describe_unlinked", "search_by_cosine", "search_unlinked"]


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
