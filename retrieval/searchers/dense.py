"""Passages by the cosine of their vectors with the question's vector."""

from core.corpora import Corpus
from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import require_vectors, search_current
from retrieval.candidates.results import search_by_cosine
from retrieval.graph.snapshot import GraphSnapshot


class Config(StrategyConfig):
    """No options: the corpus decides the embedding model."""


class Dense:
    """Ranks by the cosine alone."""

    def __init__(self, backends: RetrievalBackends) -> None:
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        require_vectors(corpus, "the searcher dense")

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        await self.check(query.corpus)
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        return await search_by_cosine(self._backends, query, snapshot, trace)


def build(config: Config, backends: RetrievalBackends) -> Dense:  # noqa: ARG001 - every strategy is built alike
    return Dense(backends)
