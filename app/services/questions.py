"""Searches and questions as the API, the command line and evaluation ask them, and their requests.

What they are about is in `app.services.asked_corpora`.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.container import Container
from app.services.asked_corpora import (
    Asked,
    ChosenDocuments,
    MinGeneration,
    await_generations,
    choose_documents,
    list_corpora,
    note_documents,
)
from app.services.validity import (
    Amendments,
    Selection,
    list_related,
    quote_amendments,
    settle_conflicts,
    show_conflicts,
)
from app.services.verification import verify_given
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput
from core.ports.chat import ChatModels, Message, Speaker
from core.ports.reasoning import Answer, Question, Reasoner, Unsupported
from core.ports.retrieval import MAX_K, Hit, Query, Searcher, SearchResult
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
    `EmbeddingMismatch` if the embedding model of a corpus is not available here, what `await_generations` raises, and
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
    chosen = await choose_documents(container, corpora, request.filter, request.as_of)
    note_documents(chosen, request.filter, trace)
    await await_generations(container, corpora, request.min_generation)
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
    chosen: ChosenDocuments


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
    note_documents(opened.chosen, request.filter, trace)
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
    chosen = await choose_documents(container, corpora, request.filter, request.as_of)
    await await_generations(container, corpora, request.min_generation)
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
