"""Cosine, BM25, PageRank from the question's names and its rare words, in one weighted sum."""

from dataclasses import replace

from pydantic import Field

from core.ports.retrieval import Query, SearchResult
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import search_current
from retrieval.candidates.explanations import read_facts
from retrieval.candidates.fusion import fuse
from retrieval.candidates.pool import gather_pool
from retrieval.candidates.results import Ranking, build_result
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import FactsConfig


class Config(FactsConfig):
    """The defaults were measured on MuSiQue and HotpotQA."""

    pool: int = Field(
        default=100, ge=10, le=1000, description="The least number of candidates that each signal adds to the pool."
    )
    dense_weight: float = Field(default=1.0, ge=0, le=1000)
    sparse_weight: float = Field(default=0.3, ge=0, le=1000)
    graph_weight: float = Field(
        default=1.0, ge=0, le=1000, description="The weight of PageRank where it tells passages apart; else less."
    )
    exact_weight: float = Field(
        default=3.0, ge=0, le=1000, description="The weight of the square of the share of the question's rare words."
    )
    exponent: float = Field(
        default=0.25, gt=0, le=1, description="The power of PageRank's mass, which spans magnitudes."
    )


class Fused:
    """Ranks the candidate pool by cosine, BM25, rare words, and PageRank as far as it tells passages apart."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        config, backends = self._config, self._backends
        pool = await gather_pool(
            backends, query, snapshot, trace, size=max(config.pool, query.k), pagerank_config=config
        )
        if not len(pool.pagerank.entities):
            trace.note("graph: the question names no entity of the corpus; ranked by cosine and BM25 alone")
        scores = config.exact_weight * pool.exact + fuse(
            pool.dense,
            pool.sparse,
            pool.graph,
            weights=(config.dense_weight, config.sparse_weight, config.graph_weight * pool.graph_share),
            exponent=config.exponent,
        )
        ranking = Ranking(
            chunks=pool.chunks,
            scores=scores,
            dense=pool.dense,
            sparse=pool.sparse,
            graph=pool.graph,
            exact=pool.exact,
            unknown=pool.unknown,
        )
        result = await build_result(ranking, query, snapshot, backends, trace, pool.pagerank)
        facts = await read_facts(result.hits, pool.pagerank, snapshot, query, backends, config.facts)
        return replace(result, facts=facts)


def build(config: Config, backends: RetrievalBackends) -> Fused:
    return Fused(config, backends)
