"""HippoRAG: names that a model finds, linked to the most similar entities, and exact PageRank over entities alone.

A passage's score is the sum of the masses of its entities. The graph has no passages as nodes: that is HippoRAG 2, the
searcher `hippo`. It differs from the authors' code where names are normalised (in any script), where a fact and a
synonym join two entities (both count), and where the question names nothing (ranked by cosine).
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from core.corpora import Corpus
from core.errors import InvalidStrategy
from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import require_facts, require_graph, require_vectors, search_current
from retrieval.candidates.entity_linking import find_question_names, link_by_vector
from retrieval.candidates.explanations import read_facts
from retrieval.candidates.fusion import order_by_score
from retrieval.candidates.results import Ranking, add_cosines, build_result, count_candidates, search_by_cosine
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.hippo.entity_walk import find_entities, rank_by_entities, without_passages
from retrieval.interruption import run_interruptibly

NEEDS_MODEL = True
SOURCE = "HippoRAG (arXiv 2405.14831)"

_ANY_COSINE = -1.0


class Config(StrategyConfig):
    """The defaults are the paper's. Its published code has `damping=0.1`."""

    ner: bool = Field(
        default=True,
        description="Whether a model finds the names in the question; if not, no model is called, and names are those "
        "of entities and what is written like a name.",
    )
    damping: float = Field(
        default=0.5, gt=0, le=0.99, description="The share of an entity's mass that goes on to its neighbours."
    )
    facts: int = Field(
        default=10,
        ge=0,
        le=1000,
        description="The greatest number of facts of the graph that a reasoner gets with the passages.",
    )


class HippoOne:
    """Starts from the names that a reasoner's model found (`Query.entities`), else from names that a model finds."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        self._check_settings(corpus)
        if (await self._backends.snapshots.get(corpus.id)).whole.passages:
            await require_facts(corpus, self._backends, "hippo1")

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        self._check_settings(query.corpus)
        return await search_current(self._backends, query, trace, self._search)

    def _check_settings(self, corpus: Corpus) -> None:
        require_vectors(corpus, "the searcher hippo1")
        require_graph(corpus, "the searcher hippo1")

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        if not snapshot.whole.passages:
            return SearchResult(hits=(), generation=snapshot.generation)
        await require_facts(query.corpus, backends, "hippo1")
        names = await self._find_names(query, snapshot, trace)
        graph = await run_interruptibly(snapshot.graph, query.documents)
        between = await run_interruptibly(without_passages, graph)
        with trace.timed("link"):
            # An entity that is only mentioned is no node of the published graph: `between` has no edge there.
            linked = await link_by_vector(
                names, backends, query, snapshot, between, nearest=1, min_similarity=_ANY_COSINE
            )
        if not linked:
            why = "no fact of these documents names an entity" if names else "the question names nothing"
            trace.note(f"hippo1: {why}; ranked by cosine (dense) instead")
            return await search_by_cosine(backends, query, snapshot, trace)
        with trace.timed("graph"):
            damping = self._config.damping
            pagerank = await run_interruptibly(
                rank_by_entities, snapshot, graph, between, tuple(linked), damping=damping
            )
        best = order_by_score(pagerank.chunks, pagerank.mass)[: count_candidates(query)]
        ranking = Ranking(chunks=pagerank.chunks[best], scores=pagerank.mass[best], graph=pagerank.mass[best])
        ranking = await add_cosines(ranking, backends, query, snapshot, trace)
        result = await build_result(ranking, query, snapshot, backends, trace, pagerank)
        facts = await read_facts(result.hits, pagerank, snapshot, query, backends, self._config.facts)
        return replace(result, facts=facts)

    async def _find_names(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> Sequence[str]:
        if query.entities is not None:
            return query.entities
        if not self._config.ner or self._backends.models is None:
            return find_question_names(query.text, snapshot)
        with trace.timed("names"):
            return await find_entities(query, self._backends.models, trace)


def build(config: Config, backends: RetrievalBackends) -> HippoOne:
    if config.ner and backends.models is None:
        raise InvalidStrategy(
            "the searcher 'hippo1' finds the names of a question with a language model, and none is configured: set "
            "HOPWEAVE_LLM__MODEL (and HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY), or search with hippo1:ner=false"
        )
    return HippoOne(config, backends)
