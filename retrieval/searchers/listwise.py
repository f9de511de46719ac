"""The best hits of another searcher, of which a language model names the passages that are needed, in one call.

It reads the hits beside one another, so it sees which passage leads to which: a reranker that scores one passage at a
time cannot.
"""

from dataclasses import replace

from pydantic import Field, field_validator

from core.corpora import Corpus
from core.errors import InvalidStrategy
from core.ports.chat import ChatModels
from core.ports.retrieval import Query, Searcher, SearchResult, check_searched
from core.strategies import StrategyConfig, parse_spec
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.listwise.choosing import ROLE, choose_passages

NEEDS_MODEL = True
TAKES_PARTS = True

_NAME = "listwise"
_NOT_ASKED = (
    "listwise: the model is small and was not asked, so the hits keep their order; HOPWEAVE_LLM__PROFILE=large asks it"
)


class Config(StrategyConfig):
    """The searcher that is wrapped, how many of its hits are read, and how much of each."""

    over: str = Field(default="bridged", description="The searcher whose best hits are read: NAME, or NAME:key=value.")
    depth: int = Field(default=20, ge=1, le=100, description="How many of its hits are read.")
    sentences: int = Field(default=2, ge=1, le=50, description="Sentences that are shown of each hit.")

    @field_validator("over")
    @classmethod
    def _another(cls, over: str) -> str:
        if parse_spec(over).name == _NAME:
            raise ValueError("`listwise` cannot wrap itself; name another searcher")
        return over


class Listwise:
    """Puts the needed hits first, in the order in which they lead to the answer, and keeps the order of the others.

    A small model is not asked: one of 1.5 billion parameters names numbers without looking
    (docs/benchmarks/searching.md).
    """

    def __init__(self, config: Config, searcher: Searcher, models: ChatModels) -> None:
        self._config = config
        self._searcher = searcher
        self._models = models

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._searcher, corpus)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        config = self._config
        deeper = replace(query, k=max(config.depth, query.k), contributions=False)
        found = await self._searcher.search(deeper, trace)
        if self._models.is_small(ROLE):
            trace.note(_NOT_ASKED)
            needed = replace(found, hits=found.hits[: query.k])
        else:
            with trace.timed("choose"):
                needed = await self._choose(query, found, trace)
        kept = {hit.chunk.id for hit in needed.hits}
        return replace(needed, facts=tuple(fact for fact in found.facts if fact[3] in kept))

    async def _choose(self, query: Query, found: SearchResult, trace: Trace) -> SearchResult:
        """Returns the hits in their new order. A score is 1 / rank: it only orders."""
        read = found.hits[: self._config.depth]
        if not read:
            return found
        needed = await choose_passages(query, read, self._config.sentences, self._models, trace)
        ordered = dict.fromkeys((*(hit.chunk.id for hit in needed), *(hit.chunk.id for hit in found.hits)))
        by_id = {hit.chunk.id: hit for hit in found.hits}
        hits = [replace(by_id[id], score=1 / rank) for rank, id in enumerate(ordered, start=1)]
        return replace(found, hits=tuple(hits[: query.k]))


def build(config: Config, backends: RetrievalBackends) -> Listwise:
    if backends.models is None:
        raise InvalidStrategy(
            "the searcher 'listwise' asks a language model, and none is configured: set HOPWEAVE_LLM__MODEL (and "
            "HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY)"
        )
    if backends.searchers is None:
        raise InvalidStrategy("the searcher 'listwise' wraps another searcher, and none can be made here")
    return Listwise(config, backends.searchers(parse_spec(config.over)), backends.models)
