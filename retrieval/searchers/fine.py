"""PAR RAG's fine retrieval: names to the most similar entities, PageRank from them, passages and facts.

If the corpus has no vectors of entities, names are linked by name.
"""

from dataclasses import replace

import numpy as np
from pydantic import Field

from core.corpora import Corpus
from core.ports.retrieval import Query, SearchResult
from core.ports.views import VectorKind
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import require_graph, search_current
from retrieval.candidates.entity_linking import find_question_names, link_by_name, link_by_vector
from retrieval.candidates.explanations import read_facts
from retrieval.candidates.fusion import order_by_score
from retrieval.candidates.results import (
    Ranking,
    add_cosines,
    build_result,
    count_candidates,
    describe_unlinked,
    search_unlinked,
)
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.interruption import run_interruptibly
from retrieval.pagerank.personalized import FactsConfig, GraphRanking, Seeds, note_limits, rank_from_seeds

SOURCE = "PAR RAG (arXiv 2504.16787)"


class Config(FactsConfig):
    """How names are linked to entities, and how many facts are returned."""

    nearest: int = Field(default=1, ge=1, le=100, description="The number of entities that each name is linked to.")
    min_similarity: float = Field(
        default=0.6, ge=0, le=1, description="The least cosine of a name and an entity that it is linked to."
    )


class FineRetrieval:
    """Starts from the names that a model found (`Query.entities`), or from the names that are seen in the text."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        require_graph(corpus, "the searcher fine")

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        await self.check(query.corpus)
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        graph = await run_interruptibly(snapshot.graph, query.documents)
        with trace.timed("link"):
            linked = await self._link(query, snapshot, graph, trace)
        if not linked:
            how = describe_unlinked(query)
            trace.note(f"fine: the question names no entity of the corpus; ranked by {how} instead")
            return await search_unlinked(backends, query, snapshot, trace)
        with trace.timed("graph"):
            pagerank = await run_interruptibly(self._rank, graph, linked)
        note_limits(pagerank, snapshot, trace)
        best = order_by_score(pagerank.chunks, pagerank.mass)[: count_candidates(query)]
        ranking = Ranking(chunks=pagerank.chunks[best], scores=pagerank.mass[best], graph=pagerank.mass[best])
        ranking = await add_cosines(ranking, backends, query, snapshot, trace)
        result = await build_result(ranking, query, snapshot, backends, trace, pagerank)
        facts = await read_facts(result.hits, pagerank, snapshot, query, backends, self._config.facts)
        return replace(result, facts=facts)

    async def _link(
        self, query: Query, snapshot: GraphSnapshot, graph: RetrievalGraph, trace: Trace
    ) -> dict[int, float]:
        """Returns the linked entities, each with the cosine of its name (1 if linked by name)."""
        config, backends = self._config, self._backends
        names = find_question_names(query.text, snapshot) if query.entities is None else query.entities
        if graph.adjacency.size == graph.chunks:
            return {}
        if await backends.vectors.count(query.corpus.id, VectorKind.ENTITY):
            nearest, least = config.nearest, config.min_similarity
            return await link_by_vector(names, backends, query, snapshot, graph, nearest=nearest, min_similarity=least)
        trace.note("fine: this corpus has no vectors of entities; linked by name")
        return link_by_name(names, snapshot, graph)

    def _rank(self, graph: RetrievalGraph, linked: dict[int, float]) -> GraphRanking:
        """The rarer an entity and the nearer to its name, the stronger."""
        entities = np.array(sorted(linked), np.int64)
        weights = np.array([linked[entity] for entity in entities.tolist()]) / np.maximum(graph.df[entities], 1)
        seeds = Seeds(entities=entities, entity_weights=weights)
        return rank_from_seeds(
            graph, seeds, damping=self._config.damping, epsilon=self._config.epsilon, hubs=self._config.hubs
        )


def build(config: Config, backends: RetrievalBackends) -> FineRetrieval:
    return FineRetrieval(config, backends)
