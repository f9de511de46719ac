"""Questions to one or several corpora: ranked passages, or a cited answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

from hopweave._steps import Request, Steps, call, path
from hopweave._values import Budget, Message, Unsupported
from hopweave.wire.answers import Answer
from hopweave.wire.search import SearchResult

__all__ = ["ask", "search", "streamed"]


def search(
    corpus: str | Sequence[str],
    query: str,
    *,
    k: int = 5,
    searcher: str | None = None,
    searcher_options: Mapping[str, Any] | None = None,
    filter: Mapping[str, Any] | None = None,
    as_of: str | None = None,
    min_similarity: float | None = None,
    min_generation: int | Mapping[str, int] | None = None,
    explain: bool | Literal["features"] = False,
    web: bool = False,
    context: int = 0,
    group_by: Literal["document"] | None = None,
) -> Steps[SearchResult]:
    """Returns the `k` best passages for a query. The arguments are the fields of `POST …/search`.

    `corpus` is a name, or a list of several names. With `min_generation`, such as the `generation` of a job, the search
    waits until the corpus has it; of several corpora, it is one for each name.

    `searcher` is `NAME[:key=value,…]`, by default the server's. `explain` fills each hit's `path` and `reasons`,
    `explain="features"` its `contributions`, too. `web` permits that the query goes to a web search. `context` (at most
    5) brings so many passages before and after each hit; `group_by="document"` one hit for each of `k` documents.
    `as_of` is the day on which documents have to be in force, such as `2024-05-01` (by default today), or `any`.
    """
    body = {
        "query": query,
        "k": k,
        "searcher": searcher,
        "searcher_options": searcher_options,
        "filter": filter,
        "as_of": as_of,
        "min_similarity": min_similarity,
        "min_generation": min_generation,
        "explain": explain,
        "web": web,
        "context": context,
        "group_by": group_by,
    }
    return call(SearchResult, "POST", *_address(corpus, "search", body))


def ask(
    corpus: str | Sequence[str],
    question: str,
    *,
    reasoner: str | None = None,
    options: Mapping[str, Any] | None = None,
    searcher: str | None = None,
    searcher_options: Mapping[str, Any] | None = None,
    instructions: str = "",
    k: int | None = None,
    filter: Mapping[str, Any] | None = None,
    as_of: str | None = None,
    budget: Budget | None = None,
    history: Sequence[Message] = (),
    web: bool = False,
    unsupported: Unsupported | None = None,
    min_generation: int | Mapping[str, int] | None = None,
    verify: bool = False,
    verify_budget: Budget | None = None,
) -> Steps[Answer]:
    """Returns a cited answer. The arguments are the fields of `POST …/ask`; `corpus`, `as_of` and `min_generation` are
    as in `search`.

    `reasoner` and `searcher` are `NAME[:key=value,…]`, by default the server's. `k` is how many passages a retrieval
    brings; `budget` limits the calls of models; `history` is the conversation before the question; `web` permits that
    queries go to a web search. `unsupported` says what is done with an answer that no passage states: `infer` gives it
    if it is inferred from passages, `abstain` gives none, `memory` also permits the model's memory; by default, what
    the server does. Without a language model the answer is made of quotes.

    `verify` masks each document of the answer in turn and asks again, which costs about an answer for each document;
    `verify_budget` limits it. The `verification` says which documents the answer hangs on.
    """
    body = {
        "question": question,
        "reasoner": reasoner,
        "options": options,
        "searcher": searcher,
        "searcher_options": searcher_options,
        "instructions": instructions,
        "k": k,
        "filter": filter,
        "as_of": as_of,
        "budget": None if budget is None else asdict(budget),
        "history": [asdict(message) for message in history],
        "web": web,
        "unsupported": unsupported,
        "min_generation": min_generation,
        "verify": verify,
        "verify_budget": None if verify_budget is None else asdict(verify_budget),
    }
    return call(Answer, "POST", *_address(corpus, "ask", body))


def streamed(asking: Steps[Answer]) -> Request:
    """Returns the request of `ask`, to be answered with events."""
    first = next(asking)
    if not isinstance(first, Request) or first.body is None:
        raise TypeError("the first step of `ask` is its request")
    return replace(first, body={**first.body, "stream": True})


def _address(corpus: str | Sequence[str], action: str, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Returns the path and the body of a request about one or several corpora."""
    if isinstance(corpus, str):
        return path("corpora", corpus, action), _given(body)
    return path(action), {"corpora": list(corpus), **_given(body)}


def _given(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the fields that were left out, for which the server's defaults hold."""
    return {name: value for name, value in body.items() if value is not None}
