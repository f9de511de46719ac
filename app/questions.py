"""Questions in: one corpus, a strategy by name, and everything that happened on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput
from core.filters import parse_filter
from core.ports.reasoning import Answer, Question
from core.ports.retrieval import MAX_K, Query, SearchResult
from core.strategies import StrategySpec, parse_spec
from core.trace import Trace

__all__ = ["AskRequest", "SearchRequest", "ask", "search"]

_LONGEST_QUESTION = 20_000


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search as it comes from outside, not yet checked. `searcher` is `NAME[:key=value,…]`; None is the default.

    `explain` and `contributions` are those of a `Query`.
    """

    query: str
    searcher: StrategySpec | None = None
    k: int = 5
    filter: Mapping[str, Any] | None = None
    min_similarity: float | None = None
    min_generation: int | None = None
    explain: bool = False
    contributions: bool = False


@dataclass(frozen=True, kw_only=True)
class AskRequest:
    """A question as it comes from outside, not yet checked."""

    question: str
    reasoner: StrategySpec | None = None
    searcher: StrategySpec | None = None
    k: int = 5
    filter: Mapping[str, Any] | None = field(default=None)


async def search(container: Container, corpus: Corpus, request: SearchRequest, trace: Trace) -> SearchResult:
    """Rank chunks; raises `InvalidInput` for an empty query, a bad `k`, an unknown strategy or a bad filter."""
    query = Query(
        corpus=corpus,
        text=_text(request.query, "query"),
        k=_k(request.k),
        documents=await _documents(container, corpus, request.filter),
        min_similarity=request.min_similarity,
        min_generation=request.min_generation,
        explain=request.explain,
        contributions=request.contributions,
    )
    container.check_embedding(corpus)
    searcher = container.searcher(request.searcher or parse_spec(container.settings.searcher))
    with trace.timed("total"):
        return await searcher.search(query, trace)


async def ask(container: Container, corpus: Corpus, request: AskRequest, trace: Trace) -> Answer:
    """Answer with citations; raises as `search` does."""
    question = Question(
        corpus=corpus,
        text=_text(request.question, "question"),
        k=_k(request.k),
        documents=await _documents(container, corpus, request.filter),
    )
    container.check_embedding(corpus)
    searcher = request.searcher or parse_spec(container.settings.searcher)
    reasoner = container.reasoner(request.reasoner or parse_spec(container.settings.reasoner), searcher)
    with trace.timed("total"):
        return await reasoner.answer(question, trace)


def _text(text: str, what: str) -> str:
    if not text.strip():
        raise InvalidInput(f"the {what} is empty; write what you want to know")
    if len(text) > _LONGEST_QUESTION:
        raise InvalidInput(f"the {what} has {len(text)} characters; at most {_LONGEST_QUESTION} are allowed")
    if not text.isprintable() and any("\ud800" <= c <= "\udfff" for c in text):
        raise InvalidInput(f"the {what} holds half of a surrogate pair, which is no character; send valid Unicode")
    return text


def _k(k: int) -> int:
    if not 1 <= k <= MAX_K:
        raise InvalidInput(f"k is {k}; it must be between 1 and {MAX_K}")
    return k


async def _documents(container: Container, corpus: Corpus, where: Mapping[str, Any] | None) -> frozenset[str] | None:
    return None if where is None else await container.record.library.matching(corpus.id, parse_filter(where))
