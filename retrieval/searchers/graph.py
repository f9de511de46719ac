"""Personalized PageRank from the entities that the question names; without any name, `dense`."""

from core.ports.retrieval import Query, SearchResult
from core.trace import Trace
from retrieval.backends import Backends
from retrieval.candidates.fusion import ranked
from retrieval.candidates.pool import timed_walk
from retrieval.candidates.results import Ranking, result_of
from retrieval.candidates.similarity import candidates, with_cosines
from retrieval.graph.walk import WalkConfig
from retrieval.searchers.dense import Dense

__all__ = ["Config", "Graph", "build"]


class Config(WalkConfig):
    """How the walk goes."""


class Graph:
    """PageRank alone. It has nothing to go by where a question names nothing; the trace then says what was done."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._backends = backends
        self._unlinked = Dense(backends)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        backends = self._backends
        snapshot = await backends.snapshots.get(query.corpus.id, min_generation=query.min_generation, trace=trace)
        walked = await timed_walk(query, snapshot, trace, self._config)
        if not len(walked.entities):
            trace.note("graph: the question names no entity of the corpus; ranked by cosine (dense) instead")
            return await self._unlinked.search(query, trace)
        best = ranked(walked.chunks, walked.mass)[: candidates(query)]
        ranking = Ranking(chunks=walked.chunks[best], scores=walked.mass[best], graph=walked.mass[best])
        ranking = await with_cosines(ranking, backends, query, snapshot, trace)
        return await result_of(ranking, query, snapshot, backends, trace, walked)


def build(config: Config, backends: Backends) -> Graph:
    return Graph(config, backends)
