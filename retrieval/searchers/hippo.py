"""HippoRAG 2: the facts nearest to the question, filtered by a model, and PageRank from them and from all passages.

It differs from the authors' code where that cannot make its ranking worse: names are normalised in any script, the
the passages of an entity are the passages that mention it, and a corpus of any size works.
"""

from dataclasses import replace

import numpy as np
from pydantic import Field

from core.corpora import Corpus
from core.errors import InvalidStrategy
from core.ports.embedding import Vectors
from core.ports.retrieval import Fact, Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import (
    ScoredChunks,
    require_facts,
    require_graph,
    require_vectors,
    search_current,
    search_vectors,
)
from retrieval.candidates.explanations import read_facts
from retrieval.candidates.fusion import order_by_score
from retrieval.candidates.results import Ranking, add_cosines, build_result, count_candidates, search_by_cosine
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.hippo.fact_linking import LinkedFact, entity_weights, filter_facts, link_facts, passage_weights
from retrieval.interruption import run_interruptibly
from retrieval.pagerank.personalized import DEFAULT_HUBS, GraphRanking, Hubs, Seeds, note_limits, rank_from_seeds

NEEDS_MODEL = True
SOURCE = "HippoRAG 2 (arXiv 2502.14802)"


class Config(StrategyConfig):
    """The defaults are those of the paper and its published code, which have no `hubs`: no name of their question sets
    is in so many passages.
    """

    link_facts: int = Field(
        default=5, ge=1, le=100, description="The number of facts, and of their entities, that are linked."
    )
    filter: bool = Field(
        default=True, description="Whether a model selects the facts that help; if not, no model is called."
    )
    passage_weight: float = Field(default=0.05, ge=0, le=1, description="The weight of the nearest passage as a seed.")
    passages: int = Field(
        default=10_000,
        ge=1,
        le=16_000,
        description="The greatest number of passages that are seeds, the nearest first; the paper takes all.",
    )
    damping: float = Field(
        default=0.5, gt=0, le=0.99, description="The share of a node's mass that goes on to its neighbours."
    )
    epsilon: float = Field(
        default=1e-9,
        ge=1e-12,
        le=1e-2,
        description="The largest error of a node's mass, divided by the sum of its edge weights.",
    )
    hubs: Hubs = DEFAULT_HUBS
    facts: int = Field(
        default=10,
        ge=0,
        le=1000,
        description="The greatest number of facts of the graph that a reasoner gets with the passages.",
    )


class Hippo:
    """Ranks by PageRank from facts; if no fact helps, it ranks as `dense` does and the trace says so."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        self._check_settings(corpus)
        if (await self._backends.snapshots.get(corpus.id)).whole.passages:
            await require_facts(corpus, self._backends, "hippo")

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        self._check_settings(query.corpus)
        return await search_current(self._backends, query, trace, self._search)

    def _check_settings(self, corpus: Corpus) -> None:
        require_vectors(corpus, "the searcher hippo")
        require_graph(corpus, "the searcher hippo")

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        if not snapshot.whole.passages:
            return SearchResult(hits=(), generation=snapshot.generation)
        await require_facts(query.corpus, backends, "hippo")
        with trace.timed("embed"):
            vector = await backends.embedder.embed_query(query.text)
        facts = await self._select_facts(vector, query, snapshot, trace)
        if not facts:
            return await search_by_cosine(backends, query, snapshot, trace)
        with trace.timed("dense"):
            passages = await self._seed_passages(vector, query, snapshot)
        with trace.timed("graph"):
            pagerank = await run_interruptibly(self._rank, facts, passages, query, snapshot)
        note_limits(pagerank, snapshot, trace)
        best = order_by_score(pagerank.chunks, pagerank.mass)[: count_candidates(query)]
        ranking = Ranking(
            chunks=pagerank.chunks[best],
            scores=pagerank.mass[best],
            graph=pagerank.mass[best],
            unknown=passages.unknown,
        )
        ranking = await add_cosines(ranking, backends, query, snapshot, trace)
        result = await build_result(ranking, query, snapshot, backends, trace, pagerank)
        return replace(result, facts=await self._read_facts(facts, result, pagerank, query, snapshot))

    async def _read_facts(
        self,
        linked: list[LinkedFact],
        result: SearchResult,
        pagerank: GraphRanking,
        query: Query,
        snapshot: GraphSnapshot,
    ) -> tuple[Fact, ...]:
        """Returns the linked facts that a hit asserts, then the facts that PageRank reached."""
        limit = self._config.facts
        reached = await read_facts(result.hits, pagerank, snapshot, query, self._backends, limit)
        stated = _select_stated(linked, result) if query.facts else ()
        known = {fact[:3] for fact in stated}
        return (*stated, *(fact for fact in reached if fact[:3] not in known))[:limit]

    async def _select_facts(
        self, vector: Vectors, query: Query, snapshot: GraphSnapshot, trace: Trace
    ) -> list[LinkedFact]:
        with trace.timed("link"):
            facts = await link_facts(vector, self._config.link_facts, self._backends, query, snapshot)
        if not facts:
            trace.note("hippo: no fact of these documents is near; ranked by cosine (dense) instead")
        if not facts or not self._config.filter or self._backends.models is None:
            return facts
        with trace.timed("filter"):
            kept = await filter_facts(facts, query, self._backends.models, trace)
        if not kept:
            trace.note("hippo: none of the facts that are near helps; ranked by cosine (dense) instead")
        return kept

    async def _seed_passages(self, vector: Vectors, query: Query, snapshot: GraphSnapshot) -> ScoredChunks:
        """Returns the seed passages with their weights."""
        count = min(self._config.passages, snapshot.whole.passages)
        found = await search_vectors(self._backends, query, snapshot, vector, count)
        least = float(found.scores.min(initial=1.0))
        if len(found.chunks) == self._config.passages:
            farthest = await search_vectors(self._backends, query, snapshot, -vector, 1)
            least = min(least, float((-farthest.scores).min(initial=1.0)))
        return replace(found, scores=passage_weights(found.scores, least, self._config.passage_weight))

    def _rank(
        self, facts: list[LinkedFact], passages: ScoredChunks, query: Query, snapshot: GraphSnapshot
    ) -> GraphRanking:
        config, graph = self._config, snapshot.graph(query.documents)
        entities, weights = entity_weights(facts, graph.df, config.link_facts)
        order = np.argsort(passages.chunks)
        seeds = Seeds(
            entities=entities,
            entity_weights=weights,
            passages=passages.chunks[order],
            passage_weights=passages.scores[order],
        )
        return rank_from_seeds(graph, seeds, damping=config.damping, epsilon=config.epsilon, hubs=config.hubs)


def _select_stated(facts: list[LinkedFact], result: SearchResult) -> tuple[Fact, ...]:
    """Returns the kept facts that a hit asserts, each with the best such hit."""
    told = []
    for fact in facts:
        triple, asserting = fact.triple, set(fact.triple.chunk_ids)
        best = next((hit.chunk.id for hit in result.hits if hit.chunk.id in asserting), None)
        if best is not None:
            told.append(Fact(triple.subject, triple.predicate, triple.object, best))
    return tuple(told)


def build(config: Config, backends: RetrievalBackends) -> Hippo:
    if config.filter and backends.models is None:
        raise InvalidStrategy(
            "the searcher 'hippo' filters facts with a language model, and none is configured: set HOPWEAVE_LLM__MODEL "
            "(and HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY), or search with hippo:filter=false"
        )
    return Hippo(config, backends)
