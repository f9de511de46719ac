"""Personalized PageRank from the entities that the question names; without a name, ranking as by `dense`."""

from dataclasses import replace

from core.corpora import Corpus
from core.ports.retrieval import Query, SearchResult
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import require_graph, search_current
from retrieval.candidates.explanations import read_facts
from retrieval.candidates.fusion import order_by_score
from retrieval.candidates.pool import rank_graph
from retrieval.candidates.results import (
    Ranking,
    add_cosines,
    build_result,
    count_candidates,
    describe_unlinked,
    search_unlinked,
)
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import FactsConfig


class Config(FactsConfig):
    """The options of PageRank, and the number of facts."""


class GraphSearch:
    """Ranks by PageRank alone. If the question names no entity, it ranks as `dense` does and the trace says so."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        require_graph(corpus, "the searcher graph")

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        await self.check(query.corpus)
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        pagerank = await rank_graph(query, snapshot, trace, self._config)
        if not len(pagerank.entities):
            how = describe_unlinked(query)
            trace.note(f"graph: the question names no entity of the corpus; ranked by {how} instead")
            return await search_unlinked(backends, query, snapshot, trace)
        best = order_by_score(pagerank.chunks, pagerank.mass)[: count_candidates(query)]
        ranking = Ranking(chunks=pagerank.chunks[best], scores=pagerank.mass[best], graph=pagerank.mass[best])
        ranking = await add_cosines(ranking, backends, query, snapshot, trace)
        result = await build_result(ranking, query, snapshot, backends, trace, pagerank)
        facts = await read_facts(result.hits, pagerank, snapshot, query, backends, self._config.facts)
        return replace(result, facts=facts)


def build(config: Config, backends: RetrievalBackends) -> GraphSearch:
    return GraphSearch(config, backends)
