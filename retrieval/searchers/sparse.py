"""The passages that hold the question's words, by BM25."""

from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.results import Ranking, result_of
from retrieval.similarity import candidates, with_cosines
from retrieval.views import worded

__all__ = ["Config", "Sparse", "build"]


class Config(StrategyConfig):
    """Nothing to set: the text index has its own BM25."""


class Sparse:
    """BM25 alone: any of the question's words may match."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        backends = self._backends
        snapshot = await backends.snapshots.get(query.corpus.id, min_generation=query.min_generation, trace=trace)
        with trace.timed("sparse"):
            found = await worded(backends, query, snapshot, candidates(query))
        ranking = Ranking(chunks=found.chunks, scores=found.scores, sparse=found.scores)
        ranking = await with_cosines(ranking, backends, query, snapshot, trace)
        return await result_of(ranking, query, snapshot, backends, trace)


def build(config: Config, backends: Backends) -> Sparse:  # noqa: ARG001 - every strategy is built alike
    return Sparse(backends)
