"""The body of `/search` and its response, and the hits that answers show, too."""

from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from api.schemas.base import In, Out, SpanOut, Text
from api.schemas.strategies import parse_strategy
from api.schemas.usage import UsageOut, usage_out
from app.services.questions import SearchRequest
from core.ports.retrieval import MAX_K, Hit, SearchResult
from core.strategies import StrategySpec
from core.trace import Trace

__all__ = ["HitDocumentOut", "HitOut", "SearchIn", "SearchOut", "hit_out", "search_out"]


class SearchIn(In):
    """`searcher` is `NAME[:key=value,…]`; unset, the server's default."""

    query: Text
    searcher: str | None = None
    searcher_options: dict[str, Any] = Field(default_factory=dict)
    k: int = Field(default=5, ge=1, le=MAX_K)
    filter: dict[str, Any] | None = None
    min_similarity: float | None = Field(default=None, ge=-1, le=1, allow_inf_nan=False)
    min_generation: int | None = Field(default=None, ge=0)
    explain: bool | Literal["features"] = Field(
        default=False,
        description="`true`: each hit tells its `path` and `reasons`; `features`: and its `contributions`.",
    )
    web: bool = Field(default=False, description="Permits that the query goes to a web search.")
    _searcher: StrategySpec | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _parse_strategy(self) -> Self:
        self._searcher = parse_strategy(self.searcher, self.searcher_options, "searcher")
        return self

    def to_request(self) -> SearchRequest:
        """Returns the request that the service takes; raises `InvalidInput` as `SearchRequest` does."""
        return SearchRequest(
            query=self.query,
            searcher=self._searcher,
            k=self.k,
            filter=self.filter,
            min_similarity=self.min_similarity,
            min_generation=self.min_generation,
            explain=self.explain is not False,
            contributions=self.explain == "features",
            web=self.web,
        )


class HitChunkOut(Out):
    id: str
    text: str
    page: int | None
    span: SpanOut | None
    heading: str


class HitDocumentOut(Out):
    id: str
    key: str
    title: str
    metadata: dict[str, Any]


class SignalsOut(Out):
    """The raw cosine, BM25 and PageRank mass; null: not looked at."""

    dense: float | None
    sparse: float | None
    graph: float | None


class PathStepOut(Out):
    """One step of the way through the graph: `source` —`relation`→ `target`, as `chunk_id` says."""

    source: str
    relation: str
    target: str
    chunk_id: str


class HitOut(Out):
    """`score` orders the hits of one query and means nothing else."""

    chunk: HitChunkOut
    document: HitDocumentOut
    score: float
    signals: SignalsOut
    path: list[PathStepOut]
    reasons: list[str] = Field(
        description="Why the hit is there, in words, the most telling first; empty without `explain`, and from "
        "searchers other than `bridged`."
    )
    contributions: dict[str, float] = Field(
        description="What each feature adds to `score`: they sum to it. Empty unless `explain` is `features`, and from "
        "searchers other than `bridged`."
    )
    url: str | None = Field(
        description="The passage is from the web, and in no corpus; `chunk` and `document` are made up from what the "
        "search engine told."
    )


class SearchOut(Out):
    """`timing` is in seconds by stage."""

    hits: list[HitOut]
    generation: int
    notes: list[str]
    timing: dict[str, float]
    usage: UsageOut


def hit_out(hit: Hit) -> HitOut:
    return HitOut.model_validate(hit)


def search_out(result: SearchResult, trace: Trace) -> SearchOut:
    return SearchOut(
        hits=[hit_out(hit) for hit in result.hits],
        generation=result.generation,
        notes=trace.notes,
        timing=trace.timing,
        usage=usage_out(trace.usage),
    )
