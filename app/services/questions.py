"""Questions in: one corpus, a strategy by name, and everything that happened on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput
from core.filters import parse_filter
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Answer, Question
from core.ports.retrieval import MAX_K, Query, SearchResult
from core.strategies import StrategySpec
from core.text.characters import check_text
from core.trace import Trace

__all__ = ["AskRequest", "SearchRequest", "ask", "search"]

_LONGEST_QUESTION = 20_000
_LONGEST_INSTRUCTIONS = 10_000
_LONGEST_HISTORY = 100_000


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search as it comes from outside, not yet checked. `searcher` is `NAME[:key=value,…]`; None is the default.

    `explain`, `contributions` and `web` are those of a `Query`.
    """

    query: str
    searcher: StrategySpec | None = None
    k: int = 5
    filter: Mapping[str, Any] | None = None
    min_similarity: float | None = None
    min_generation: int | None = None
    explain: bool = False
    contributions: bool = False
    web: bool = False


@dataclass(frozen=True, kw_only=True)
class AskRequest:
    """A question as it comes from outside, not yet checked. Its budget is that of the trace that goes with it.

    `k` None leaves the number of passages to the reasoner; `web` permits that queries go to a web search.
    """

    question: str
    reasoner: StrategySpec | None = None
    searcher: StrategySpec | None = None
    k: int | None = None
    filter: Mapping[str, Any] | None = field(default=None)
    instructions: str = ""
    history: tuple[Message, ...] = ()
    web: bool = False


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
        web=request.web,
        private=False,
    )
    container.check_embedding(corpus)
    searcher = container.searcher(request.searcher or container.default_searcher)
    with trace.timed("total"):
        return await searcher.search(query, trace)


async def ask(container: Container, corpus: Corpus, request: AskRequest, trace: Trace) -> Answer:
    """Answer with citations; raises as `search` does."""
    question = Question(
        corpus=corpus,
        text=_text(request.question, "question"),
        k=None if request.k is None else _k(request.k),
        documents=await _documents(container, corpus, request.filter),
        instructions=_instructions(request.instructions),
        history=_history(request.history),
        web=request.web,
    )
    container.check_embedding(corpus)
    reasoner = container.reasoner(request.reasoner or container.default_reasoner, request.searcher)
    with trace.timed("total"):
        answer = await reasoner.answer(question, trace)
    if container.trails is not None:
        container.trails.keep(corpus, question.text, answer, trace)
    return answer


def _text(text: str, what: str) -> str:
    if not text.strip():
        raise InvalidInput(f"the {what} is empty; write what you want to know")
    if len(text) > _LONGEST_QUESTION:
        raise InvalidInput(f"the {what} has {len(text)} characters; at most {_LONGEST_QUESTION} are allowed")
    return check_text(text, f"the {what}")


def _instructions(text: str) -> str:
    if len(text) > _LONGEST_INSTRUCTIONS:
        raise InvalidInput(f"`instructions` has {len(text)} characters; at most {_LONGEST_INSTRUCTIONS} are allowed")
    return check_text(text, "`instructions`")


def _history(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The conversation before the question: of user and assistant; a system's message is none of it."""
    if any(message.speaker is Speaker.SYSTEM for message in messages):
        raise InvalidInput("`history` holds a message of the system; what answers should look like is `instructions`")
    length = sum(len(message.content) for message in messages)
    if length > _LONGEST_HISTORY:
        raise InvalidInput(f"`history` has {length} characters; at most {_LONGEST_HISTORY} are allowed; send the last")
    for message in messages:
        check_text(message.content, "`history`")
    return messages


def _k(k: int) -> int:
    if not 1 <= k <= MAX_K:
        raise InvalidInput(f"k is {k}; it must be between 1 and {MAX_K}")
    return k


async def _documents(container: Container, corpus: Corpus, where: Mapping[str, Any] | None) -> frozenset[str] | None:
    return None if where is None else await container.record.documents.match(corpus.id, parse_filter(where))
