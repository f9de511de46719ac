"""A least similarity, for searchers that rank by something else than the cosine."""

from dataclasses import replace

from core.ports.retrieval import MAX_K, Query
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.candidates.results import Ranking
from retrieval.candidates.views import cosines, vectors_of
from retrieval.graph.snapshot import Snapshot

__all__ = ["candidates", "with_cosines"]

_SPARE = 10


def candidates(query: Query) -> int:
    """How many to look at for `k` hits: a few may vanish, and many may not be similar enough."""
    return MAX_K if query.min_similarity is not None else query.k + _SPARE


async def with_cosines(ranking: Ranking, backends: Backends, query: Query, snapshot: Snapshot, trace: Trace) -> Ranking:
    """With the raw cosine of every candidate if the query sets a least one, else as it is."""
    if query.min_similarity is None:
        return ranking
    with trace.timed("embed"):
        vector = await backends.embedder.embed_query(query.text)
    with trace.timed("dense"):
        vectors = await vectors_of(backends, query, snapshot, ranking.chunks)
        return replace(ranking, dense=cosines(vectors, vector))
