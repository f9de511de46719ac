"""Cosine, BM25 and PageRank from the question's names, each scaled, in one mix."""

from pydantic import Field

from core.ports.retrieval import Query, SearchResult
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.candidates.fusion import mixed
from retrieval.candidates.pool import gather_pool
from retrieval.candidates.results import Ranking, result_of
from retrieval.graph.walk import WalkConfig

__all__ = ["Config", "Fused", "build"]


class Config(WalkConfig):
    """The defaults are those that were measured on MuSiQue and HotpotQA."""

    pool: int = Field(
        default=100, ge=10, le=1000, description="How many candidates each signal puts forward, at least."
    )
    dense_weight: float = Field(default=1.0, ge=0)
    sparse_weight: float = Field(default=0.3, ge=0)
    graph_weight: float = Field(default=1.0, ge=0)
    exponent: float = Field(default=0.25, gt=0, le=1, description="Raises PageRank's mass, which spans magnitudes.")


class Fused:
    """Ranks the pool of all three signals; a question that names nothing in the corpus has two."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._backends = backends

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        config, backends = self._config, self._backends
        snapshot = await backends.snapshots.get(query.corpus.id, min_generation=query.min_generation, trace=trace)
        pool = await gather_pool(backends, query, snapshot, trace, size=max(config.pool, query.k), walking=config)
        if not len(pool.walked.entities):
            trace.note("graph: the question names no entity of the corpus; ranked by cosine and BM25 alone")
        scores = mixed(
            pool.dense,
            pool.sparse,
            pool.graph,
            weights=(config.dense_weight, config.sparse_weight, config.graph_weight),
            exponent=config.exponent,
        )
        ranking = Ranking(chunks=pool.chunks, scores=scores, dense=pool.dense, sparse=pool.sparse, graph=pool.graph)
        return await result_of(ranking, query, snapshot, backends, trace, pool.walked)


def build(config: Config, backends: Backends) -> Fused:
    return Fused(config, backends)
