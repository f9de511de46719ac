"""The best hits of another searcher, scored again by a model that reads question and passage together."""

from dataclasses import replace

from pydantic import Field, field_validator

from core.corpora import Corpus
from core.errors import InvalidStrategy
from core.ports.retrieval import MAX_K, Hit, Query, Reranker, Searcher, SearchResult, check_searched
from core.strategies import StrategyConfig, parse_spec
from core.trace import Trace
from retrieval.backends import RetrievalBackends

TAKES_PARTS = True

_NAME = "reranked"


class Config(StrategyConfig):
    """The searcher that is wrapped, and how many of its hits are scored."""

    over: str = Field(
        default="bridged", description="The searcher whose best hits are scored: NAME, or NAME:key=value."
    )
    depth: int = Field(default=50, ge=1, le=MAX_K, description="How many of its hits are scored; at least `k`.")

    @field_validator("over")
    @classmethod
    def _another(cls, over: str) -> str:
        if parse_spec(over).name == _NAME:
            raise ValueError("`reranked` cannot wrap itself; name another searcher")
        return over


class Reranked:
    """Orders hits by the model's scores; the wrapped searcher's signals, paths and reasons are kept."""

    def __init__(self, config: Config, searcher: Searcher, reranker: Reranker) -> None:
        self._depth = config.depth
        self._searcher = searcher
        self._reranker = reranker

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._searcher, corpus)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        deeper = replace(query, k=max(self._depth, query.k), contributions=False)
        found = await self._searcher.search(deeper, trace)
        with trace.timed("rerank"):
            scores = await self._reranker.rank(query.text, [_format_hit(hit) for hit in found.hits])
        scored = [replace(hit, score=score) for hit, score in zip(found.hits, scores, strict=True)]
        hits = tuple(sorted(scored, key=lambda hit: (-hit.score, hit.chunk.id))[: query.k])
        kept = {hit.chunk.id for hit in hits}
        return replace(found, hits=hits, facts=tuple(fact for fact in found.facts if fact[3] in kept))


def _format_hit(hit: Hit) -> str:
    return "\n".join(filter(None, (hit.document.title, hit.chunk.heading, hit.chunk.text)))


def build(config: Config, backends: RetrievalBackends) -> Reranked:
    if backends.reranker is None:
        raise InvalidStrategy(
            "the searcher 'reranked' needs a reranking model, and none is configured: set HOPWEAVE_RERANKER__KIND to "
            "'cross-encoder' or 'colbert' (with HOPWEAVE_RERANKER__MODEL) or 'http' (with HOPWEAVE_RERANKER__URL)"
        )
    if backends.searchers is None:
        raise InvalidStrategy("the searcher 'reranked' wraps another searcher, and none can be made here")
    return Reranked(config, backends.searchers(parse_spec(config.over)), backends.reranker)
