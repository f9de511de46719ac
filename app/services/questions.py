"""Searches and questions as the API, the command line and evaluation ask them, and their requests.

First comes what a search or a question is about: one or several corpora, of what generation, and which of their
documents.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from app.container import Container
from app.services.validity import (
    Amendments,
    Selection,
    list_related,
    quote_amendments,
    select_in_force,
    settle_conflicts,
    show_conflicts,
)
from app.services.verification import verify_given
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput, NotFound, TimedOut
from core.filters import describe_no_match
from core.jobs import Job
from core.ports.chat import ChatModels, Message, Speaker
from core.ports.reasoning import Answer, Question, Reasoner, Unsupported
from core.ports.retrieval import MAX_K, Hit, Query, QueryPart, Searcher, SearchResult
from core.prompting.prompts import use_prompts
from core.strategies import StrategySpec, load_module
from core.telemetry.metrics import ANSWERS
from core.text.characters import check_text
from core.trace import Budget, Trace
from core.validity import parse_as_of
from core.verification import Verification
from reasoning import REASONERS, restate
from reasoning.strategies.survey import asks_for_all
from reasoning.verification import GivenAnswer, make_comparison, read_answer
from retrieval.presentation import SearchPage, locate_cells, present, search_by_document

__all__ = [
    "MAX_CONTEXT",
    "MAX_CORPORA",
    "MAX_QUESTION",
    "AskRequest",
    "Asked",
    "GroupBy",
    "Layout",
    "MinGeneration",
    "SearchRequest",
    "ask",
    "check_question",
    "list_corpora",
    "open_corpora",
    "read_generation",
    "search",
    "search_page",
    "verify",
]

MAX_CORPORA = 16
"""Corpora of one search. Each costs a search of its own."""

_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.1

Asked: TypeAlias = Corpus | Sequence[Corpus]
MinGeneration: TypeAlias = int | Mapping[str, int] | None
"""The generation of the only corpus, or a generation for each of several corpora by name."""


async def open_corpora(container: Container, names: Sequence[str]) -> tuple[Corpus, ...]:
    """Returns the corpora with these names.

    Raises `InvalidInput` for no name, more than `MAX_CORPORA`, or a name that comes twice, and `NotFound` for a corpus
    that is not there or that the caller may not see.
    """
    if not names:
        raise InvalidInput("`corpora` is empty; name the corpora to search")
    if len(names) > MAX_CORPORA:
        raise InvalidInput(f"`corpora` names {len(names)}; at most {MAX_CORPORA} are searched at once")
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InvalidInput(f"`corpora` names {twice!r} twice; name each corpus once")
    return tuple([await container.record.corpora.get(name) for name in names])


def list_corpora(asked: Asked) -> tuple[Corpus, ...]:
    """Returns the corpora. Raises `InvalidInput` if there is none."""
    corpora = (asked,) if isinstance(asked, Corpus) else tuple(asked)
    if not corpora:
        raise InvalidInput("no corpus is named; name the corpora to search")
    return corpora


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """The documents of all corpora (None: no corpus is restricted), the parts, and the validity of the documents.

    There are no parts for one corpus. `masked`: documents are left out only because they are not in force.
    """

    documents: frozenset[str] | None
    parts: tuple[QueryPart, ...]
    masked: bool
    selection: Selection


async def _choose_documents(
    container: Container, corpora: Sequence[Corpus], where: Mapping[str, Any] | None, as_of: str | None
) -> _Chosen:
    """Returns the documents that match and are in force.

    Raises `InvalidFilter`, `InvalidInput` for a wrong day, and `EmbeddingMismatch` for a corpus whose embedding model
    is not available here.
    """
    selection = await select_in_force(container, corpora, where, as_of)
    for corpus in corpora:
        container.check_embedding(corpus)
    restricted = [part.documents for part in selection.parts if part.documents is not None]
    documents = _unite(restricted) if restricted else None
    return _Chosen(
        documents=documents,
        parts=selection.parts if len(corpora) > 1 else (),
        masked=documents is not None and where is None and container.sees_all_documents,
        selection=selection,
    )


def _note_documents(chosen: _Chosen, where: Mapping[str, Any] | None, trace: Trace) -> None:
    chosen.selection.note(trace)
    if where and chosen.documents is not None and not chosen.documents:
        trace.note(describe_no_match(where))


def _unite(parts: Sequence[frozenset[str]]) -> frozenset[str]:
    """Returns all documents of the parts. A single part is returned as the same set, for which searches keep masks."""
    return parts[0] if len(parts) == 1 else frozenset[str]().union(*parts)


async def _await_generations(container: Container, corpora: Sequence[Corpus], wanted: MinGeneration) -> None:
    """Waits until snapshots of the corpora have the wanted generations, ten seconds at most.

    Raises `Conflict` for a generation that the record does not have by then, `TimedOut` if only the snapshot is late,
    and `InvalidInput` if it is not clear which corpus is meant.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    for corpus, generation in _pair(corpora, wanted):
        await _await_record(container, corpus, generation, deadline)
        await _await_snapshot(container, corpus, generation, deadline)


def _pair(corpora: Sequence[Corpus], wanted: MinGeneration) -> list[tuple[Corpus, int]]:
    if wanted is None:
        return []
    if isinstance(wanted, int):
        if len(corpora) > 1:
            raise InvalidInput(
                "`min_generation` is a number, and several corpora are searched; give each corpus its own, such as "
                f'{{"{corpora[0].name}": {wanted}}}'
            )
        return [(corpora[0], wanted)]
    names = {corpus.name for corpus in corpora}
    if unknown := sorted(wanted.keys() - names):
        raise InvalidInput(f"`min_generation` names {unknown[0]!r}, which is none of the corpora that are searched")
    return [(corpus, wanted[corpus.name]) for corpus in corpora if corpus.name in wanted]


async def _await_record(container: Container, corpus: Corpus, wanted: int, deadline: float) -> None:
    while (present := await container.record.graph.generation(corpus.id)) < wanted:
        if time.monotonic() >= deadline:
            raise Conflict(
                f"corpus {corpus.name!r} is at generation {present}, and {wanted} was asked for: wait until the job "
                "that writes it is done and ask with the `generation` that the job then has, or leave "
                "`min_generation` out"
            )
        await asyncio.sleep(_POLL_SECONDS)


async def _await_snapshot(container: Container, corpus: Corpus, wanted: int, deadline: float) -> None:
    while (await container.snapshots.get(corpus.id, min_generation=wanted)).generation < wanted:
        if time.monotonic() >= deadline:
            raise TimedOut(
                f"corpus {corpus.name!r} has generation {wanted}, but this process has not read it within "
                f"{_WAIT_SECONDS:.0f} seconds: try again, or leave `min_generation` out"
            )


async def read_generation(container: Container, job: Job) -> int | None:
    """Returns a generation of the job's corpus that holds all that the job has changed, for `min_generation`.

    None while the job goes on, and without the corpus.
    """
    if not job.state.final:
        return None
    try:
        return await container.record.graph.generation(job.corpus_id)
    except NotFound:
        return None


MAX_CONTEXT = 5
"""Passages before and after a hit."""

MAX_QUESTION = 20_000
_MAX_INSTRUCTIONS = 10_000
_MAX_HISTORY = 100_000
_SURVEY = "survey"
_OF_TABLE = f"the answer is from one table only: to count or list over all documents, ask the reasoner `{_SURVEY}`"
_NOT_ALL = (
    f"the answer is from the best passages only: to count or list all documents that say this, ask the reasoner "
    f"`{_SURVEY}`"
)


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search as a user asks it. `searcher` None is the default searcher.

    `explain`, `contributions` and `web` have the same meaning as in `Query`. `as_of` is the day on which documents have
    to be in force, or `any`; None: today. Raises `InvalidInput` for a query that is empty, too long or no valid
    Unicode, for a bad `k`, and for a day that there is not. `filter` is checked by `search`.
    """

    query: str
    searcher: StrategySpec | None = None
    k: int = 5
    filter: Mapping[str, Any] | None = None
    min_similarity: float | None = None
    min_generation: MinGeneration = None
    explain: bool = False
    contributions: bool = False
    web: bool = False
    as_of: str | None = None

    def __post_init__(self) -> None:
        check_question(self.query, "the query")
        parse_as_of(self.as_of)
        _check_k(self.k)


class GroupBy(StrEnum):
    """Of what a page has one hit each."""

    DOCUMENT = "document"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How users read a search: `context` passages before and after each hit, and one hit for each document.

    With `group_by`, `k` counts documents. Raises `InvalidInput` for a bad `context`.
    """

    context: int = 0
    group_by: GroupBy | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.context <= MAX_CONTEXT:
            raise InvalidInput(f"context is {self.context}; it must be between 0 and {MAX_CONTEXT}")


@dataclass(frozen=True, kw_only=True)
class AskRequest:
    """A question as a user asks it. The trace that goes with it has its budget.

    `k` None leaves the number of passages to the reasoner; `web` permits that queries go to a web search.
    `unsupported` None is the default of the settings. A question with a `history` is made understandable alone before
    anything is searched, if the reasoner asks a model. Raises `InvalidInput` for a text that is empty, too long or no
    valid Unicode, for a bad `k`, and for a message of the system in `history`. `filter` is checked by `ask`.

    `told` are the ids of the documents that the answers in `history` were made of. `as_of` is as in `SearchRequest`.
    """

    question: str
    reasoner: StrategySpec | None = None
    searcher: StrategySpec | None = None
    k: int | None = None
    filter: Mapping[str, Any] | None = None
    instructions: str = ""
    history: tuple[Message, ...] = ()
    web: bool = False
    unsupported: Unsupported | None = None
    min_generation: MinGeneration = None
    told: frozenset[str] = frozenset()
    as_of: str | None = None

    def __post_init__(self) -> None:
        check_question(self.question, "the question")
        parse_as_of(self.as_of)
        if self.k is not None:
            _check_k(self.k)
        _check_length(len(self.instructions), _MAX_INSTRUCTIONS, "`instructions`")
        check_text(self.instructions, "`instructions`")
        _check_history(self.history)


async def search(container: Container, asked: Asked, request: SearchRequest, trace: Trace) -> SearchResult:
    """Ranks the chunks of one or several corpora.

    Raises `InvalidStrategy` for an unknown searcher or a wrong option, `InvalidFilter` for a bad filter,
    `EmbeddingMismatch` if the embedding model of a corpus is not available here, what `_await_generations` raises, and
    `Conflict` if a document that was found was taken from the caller meanwhile.
    """
    query, searcher, selection = await _prepare(container, asked, request, trace)
    with use_prompts(container.prompts), trace.timed("total"), container.count_tokens(trace):
        result = await searcher.search(query, trace)
    result = replace(result, hits=selection.show_hits(result.hits))
    await _check_seen(container, list_corpora(asked), result.hits)
    return result


async def search_page(
    container: Container, asked: Asked, request: SearchRequest, layout: Layout, trace: Trace
) -> SearchPage:
    """Ranks the chunks of one or several corpora, with snippets and what `layout` asks for. Raises as `search` does."""
    query, searcher, selection = await _prepare(container, asked, request, trace)
    with use_prompts(container.prompts), trace.timed("total"), container.count_tokens(trace):
        if layout.group_by is GroupBy.DOCUMENT:
            result, others = await search_by_document(searcher, query, trace)
        else:
            result, others = await searcher.search(query, trace), {}
        result = replace(result, hits=selection.show_hits(result.hits))
        with trace.timed("present"):
            page = await present(result, query, container.searching, context=layout.context, others=others)
    await _check_seen(container, list_corpora(asked), result.hits)
    return page


async def _prepare(
    container: Container, asked: Asked, request: SearchRequest, trace: Trace
) -> tuple[Query, Searcher, Selection]:
    container.limits.check(k=request.k)
    corpora = list_corpora(asked)
    chosen = await _choose_documents(container, corpora, request.filter, request.as_of)
    _note_documents(chosen, request.filter, trace)
    await _await_generations(container, corpora, request.min_generation)
    query = Query(
        corpus=corpora[0],
        parts=chosen.parts,
        text=request.query,
        k=request.k,
        documents=chosen.documents,
        masked=chosen.masked,
        min_similarity=request.min_similarity,
        min_generation=request.min_generation if isinstance(request.min_generation, int) else None,
        explain=request.explain,
        contributions=request.contributions,
        web=request.web,
        private=False,
    )
    return query, container.searcher(request.searcher or container.default_searcher), chosen.selection


@dataclass(frozen=True, kw_only=True)
class _Opened:
    """A question with its documents, and the reasoner that answers it.

    `models` is None if the reasoner asks no model. `searcher` is the searcher of the reasoner, with its name.
    """

    question: Question
    reasoner: Reasoner
    models: ChatModels | None
    searcher: tuple[str, Searcher]
    chosen: _Chosen


async def ask(
    container: Container, asked: Asked, request: AskRequest, trace: Trace, *, verify: Budget | None = None
) -> Answer:
    """Answers a question to one or several corpora with citations.

    The answer goes to the trail writer if trails are enabled, unless it is from several corpora. With `verify`, the
    limits of a verification, the answer is verified, and the verification is in the trace (`find_verification`).

    Raises as `search` does, `BudgetExhausted` where the budget ends before any step has an answer, and `Conflict` if a
    document that was read was taken from the caller meanwhile.
    """
    opened = await _open(container, asked, request)
    _note_documents(opened.chosen, request.filter, trace)
    asks_survey = (request.reasoner or container.default_reasoner).name == _SURVEY
    with use_prompts(container.prompts):
        with trace.timed("total"), container.count_tokens(trace):
            opened = await _restate(opened, trace)
            answer = await opened.reasoner.answer(opened.question, trace)
            if not asks_survey and asks_for_all(request.question):
                trace.note(_OF_TABLE if answer.table else _NOT_ALL)
            question, selection = opened.question, opened.chosen.selection
            settled = await settle_conflicts(container, selection, question, answer, opened.reasoner.answer, trace)
        answer = await locate_cells(settled.answer, question.text, list_corpora(asked), container.record.contents)
        answer, amended = await quote_amendments(Amendments(container, selection), answer)
        answer = show_conflicts(selection.show_answer(answer, amended), settled.conflicts)
        ANSWERS.record(1, support=answer.support.value, corpus=question.corpus.name)
        if verify is not None:
            answered = replace(opened, question=settled.question)
            await _verify(container, answered, read_answer(answer, trace.usage), trace, verify)
    hits = [hit for step in answer.steps for hit in step.hits]
    await _check_seen(container, list_corpora(asked), hits, list_related(answer))
    if container.trails is not None and not question.parts:  # a trail belongs to one corpus
        container.trails.enqueue(question.corpus, question.text, answer, trace)
    return answer


async def _check_seen(
    container: Container, corpora: Sequence[Corpus], hits: Sequence[Hit], others: Set[str] = frozenset()
) -> None:
    """Raises `Conflict` if a document of these hits, or one of the others, was taken from the caller: an answer may
    have taken minutes, and a search some seconds on a busy machine.
    """
    if container.sees_all_documents:
        return
    left = set(others).union(*(hit.document_ids for hit in hits))
    for corpus in corpora:
        left -= (await container.record.documents.get_refs(corpus.id, left, enabled=None)).keys()
    for corpus in corpora if left else ():
        if await container.whole_record.documents.get_refs(corpus.id, left, enabled=None):
            raise Conflict("a document was taken from this key while it was read for this request: ask again")


async def verify(
    container: Container, asked: Asked, request: AskRequest, given: GivenAnswer, trace: Trace, budget: Budget
) -> Verification:
    """Verifies an answer that the request was given before. Raises as `ask` does.

    `trace` has the events; `budget` limits the verification.
    """
    opened = await _open(container, asked, request)
    with use_prompts(container.prompts):
        with container.count_tokens(trace):
            opened = await _restate(opened, trace)
        return await _verify(container, opened, given, trace, budget)


async def _open(container: Container, asked: Asked, request: AskRequest) -> _Opened:
    container.limits.check(k=request.k, history=len(request.history))
    await container.check_tokens()
    corpora = list_corpora(asked)
    chosen = await _choose_documents(container, corpora, request.filter, request.as_of)
    await _await_generations(container, corpora, request.min_generation)
    question = Question(
        corpus=corpora[0],
        parts=chosen.parts,
        text=request.question,
        k=request.k,
        documents=chosen.documents,
        masked=chosen.masked,
        instructions=request.instructions,
        history=request.history,
        web=request.web,
        unsupported=request.unsupported or container.settings.unsupported,
        companions=Amendments(container, chosen.selection) if chosen.selection.registers else None,
    )
    spec, searcher = request.reasoner or container.default_reasoner, request.searcher or container.default_searcher
    reasoner = container.reasoner(spec, request.searcher, corpora=corpora)
    needs_model = bool(getattr(load_module(REASONERS, spec.name, "reasoner"), "NEEDS_MODEL", False))
    models = container.models if needs_model else None
    named = (searcher.name, container.searcher(searcher))
    return _Opened(question=question, reasoner=reasoner, models=models, searcher=named, chosen=chosen)


async def _restate(opened: _Opened, trace: Trace) -> _Opened:
    """Returns the question without its history, and without references to it. Returns the question unchanged if:
    - it has no history;
    - no model is asked, or the model's reply cannot be read;
    - it may go to a web search: restated, it may hold words of earlier answers, and so of passages.
    """
    question = opened.question
    if not question.history or question.web or opened.models is None:
        return opened
    text = await restate(question, opened.models, opened.searcher, trace)
    return opened if text is None else replace(opened, question=replace(question, text=text, history=()))


async def _verify(
    container: Container, opened: _Opened, given: GivenAnswer, trace: Trace, budget: Budget
) -> Verification:
    question, models = opened.question, opened.models
    compare = None if models is None else make_comparison(question, models, opened.searcher)
    return await verify_given(container, question, given, opened.reasoner, trace, compare=compare, budget=budget)


def check_question(text: str, name: str) -> None:
    """Raises `InvalidInput` for a question that is blank, longer than `MAX_QUESTION`, or no text."""
    if not text.strip():
        raise InvalidInput(f"{name} is empty; write what you want to know")
    _check_length(len(text), MAX_QUESTION, name)
    check_text(text, name)


def _check_history(messages: tuple[Message, ...]) -> None:
    if any(message.speaker is Speaker.SYSTEM for message in messages):
        raise InvalidInput(
            "`history` contains a system message; use `instructions` to say how answers are to be written"
        )
    _check_length(sum(len(message.content) for message in messages), _MAX_HISTORY, "`history`", "; send the last")
    for message in messages:
        check_text(message.content, "`history`")


def _check_length(length: int, most: int, name: str, advice: str = "") -> None:
    if length > most:
        raise InvalidInput(f"{name} has {length} characters; at most {most} are allowed{advice}")


def _check_k(k: int) -> None:
    if not 1 <= k <= MAX_K:
        raise InvalidInput(f"k is {k}; it must be between 1 and {MAX_K}")
