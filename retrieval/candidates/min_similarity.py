"""The option `min_similarity` for searchers that do not rank by the cosine."""

from dataclasses import replace

from core.ports.retrieval import MAX_K, Query
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.results import Ranking
from retrieval.candidates.view_search import compute_cosines, fetch_vectors
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["add_cosines", "count_candidates"]

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
