"""A least similarity, for searchers that rank by something else than the cosine."""

from dataclasses import replace

from core.ports.retrieval import MAX_K, Query
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.results import Ranking
from retrieval.candidates.view_search import compute_cosines, fetch_vectors
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["add_cosines", "count_candidates"]

_SPARE = 10


def count_candidates(query: Query) -> int:
    """How many to look at for `k` hits: a few may vanish, and many may not be similar enough."""
    return MAX_K if query.min_similarity is not None else query.k + _SPARE


async def add_cosines(
    ranking: Ranking, backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace
) -> Ranking:
    """With the raw cosine of every candidate if the query sets a least one, else as it is."""
    if query.min_similarity is None:
        return ranking
    with trace.timed("embed"):
        vector = await backends.embedder.embed_query(query.text)
    with trace.timed("dense"):
        vectors = await fetch_vectors(backends, query, snapshot, ranking.chunks)
        return replace(ranking, dense=compute_cosines(vectors, vector))
