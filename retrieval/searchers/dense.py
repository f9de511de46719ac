"""Passages by the cosine of their vectors with the question's vector."""

from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import search_current
from retrieval.candidates.min_similarity import count_candidates
from retrieval.candidates.results import Ranking, build_result
from retrieval.candidates.view_search import search_vectors
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["Config", "Dense", "build"]


class Config(StrategyConfig):
    """No options: the corpus decides the embedding model."""


class Dense:
    """Ranks by the cosine alone."""

    def __init__(self, backends: RetrievalBackends) -> None:
        self._backends = backends

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        return await search_current(self._backends, query, trace, self.search_snapshot)

    async def search_snapshot(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        """Searches one snapshot, for searchers that have it."""
        backends = self._backends
        with trace.timed("embed"):
            vector = await backends.embedder.embed_query(query.text)
        with trace.timed("dense"):
            found = await search_vectors(backends, query, snapshot, vector, count_candidates(query))
        ranking = Ranking(chunks=found.chunks, scores=found.scores, dense=found.scores, unknown=found.unknown)
        return await build_result(ranking, query, snapshot, backends, trace)


def build(config: Config, backends: RetrievalBackends) -> Dense:  # noqa: ARG001 - every strategy is built alike
    return Dense(backends)
