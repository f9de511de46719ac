"""The routes that answer questions: `/search` returns ranked passages, `/ask` a cited answer, whole or as a stream.

The routes of stored questions follow: ask, list, show, follow, keep, cancel, ask again, compare, delete.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.responses import JSONResponse, StreamingResponse

from api.access.keys import READ
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, IdempotencyKey, Limit, json_response, run_json_once, run_while_connected
from api.schemas.ask import AskCorporaIn, AskIn, BudgetIn
from api.schemas.search import SearchCorporaIn, SearchIn, convert_page
from api.schemas.stored_questions import (
    QuestionIn,
    QuestionPatchIn,
    StoredForm,
    VerifyIn,
    convert_changes,
    dump_request,
    load_request,
    path_of,
    show_question,
)
from api.schemas.stream import ASK_RESPONSES, QUESTION_EVENTS_RESPONSES
from api.schemas.values import load
from api.streams.following import follow_question
from api.streams.work_stream import send_answer, stream_answer
from app.container import Container
from app.services import questions
from app.services.asked_corpora import Asked, open_corpora
from app.services.links import Links
from app.services.questions import AskRequest
from app.services.stored_questions import questions as stored
from app.services.stored_questions.runner import QuestionRunner
from app.services.stored_questions.verifying import Limits, VerificationState
from core.corpora import Corpus
from core.errors import InvalidInput
from core.record_policy.questions import nothing_to_verify
from core.trace import Trace
from hopweave.wire.answers import Answer
from hopweave.wire.questions import QuestionChanges, QuestionList, StoredQuestion
from hopweave.wire.search import SearchResult

router = APIRouter(prefix="/v1", tags=["questions"])


@router.post("/corpora/{corpus}/search", dependencies=[READ], summary="Rank passages", response_model=SearchResult)
async def search(corpus: CorpusDep, body: SearchIn, container: ContainerDep, http: Request) -> Response:
    return await _search(corpus, body, container, http)


@router.post(
    "/search", dependencies=[READ], summary="Rank the passages of several corpora", response_model=SearchResult
)
async def search_corpora(body: SearchCorporaIn, container: ContainerDep, http: Request) -> Response:
    """The corpora are searched as one. A passage that several of them have is one hit, of the first."""
    return await _search(await open_corpora(container, body.corpora), body, container, http)


@router.post(
    "/corpora/{corpus}/ask",
    dependencies=[READ],
    summary="Answer with citations",
    response_model=Answer,
    responses=ASK_RESPONSES,
)
async def ask(corpus: CorpusDep, body: AskIn, container: ContainerDep, http: Request) -> Response:
    return await _ask(corpus, body, container, http)


@router.post(
    "/ask",
    dependencies=[READ],
    summary="Answer from several corpora, with citations",
    response_model=Answer,
    responses=ASK_RESPONSES,
)
async def ask_corpora(body: AskCorporaIn, container: ContainerDep, http: Request) -> Response:
    """Each search of the question is one of all corpora."""
    return await _ask(await open_corpora(container, body.corpora), body, container, http)


async def _search(asked: Asked, body: SearchIn, container: Container, http: Request) -> Response:
    trace = Trace(budget=BudgetIn().within(container.settings.budget))
    work = questions.search_page(container, asked, body.to_request(), body.to_layout(), trace)
    page = await run_while_connected(http, work)
    return json_response(convert_page(page, trace, Links.of(container.settings)))


async def _ask(asked: Asked, body: AskIn, container: Container, http: Request) -> Response:
    trace = Trace(budget=body.budget.within(container.settings.budget))
    verify = body.limit_verification(container.settings.budget)
    work = questions.ask(container, asked, body.to_request(), trace, verify=verify)
    respond = stream_answer if body.stream else send_answer
    return await respond(http, work, trace, Links.of(container.settings))


stored_router = APIRouter(prefix="/v1/corpora/{corpus}/questions", tags=["questions"])


@stored_router.post(
    "",
    dependencies=[READ],
    status_code=HTTPStatus.ACCEPTED,
    summary="Ask in the background",
    response_model=StoredQuestion,
)
async def ask_in_background(
    corpus: CorpusDep, body: QuestionIn, container: ContainerDep, http: Request, key: IdempotencyKey = None
) -> Response:
    """The question is answered also if the client disconnects. `Location` is its address, at which it can be followed
    and its answer be read. 404 if the question that it follows is not there.
    """

    async def work() -> StoredQuestion:
        if body.follows is not None:
            await container.record.questions.get(corpus.id, body.follows)
        return await _begin(http, container, corpus, body)

    return await _run_once(http, container, corpus, key, work)


@stored_router.get("", dependencies=[READ], summary="List questions, newest first", response_model=QuestionList)
async def list_questions(
    corpus: CorpusDep,
    container: ContainerDep,
    kept: Annotated[bool | None, Query(description="Only questions that are kept, or that are not.")] = None,
    limit: Limit = 50,
    cursor: str | None = None,
) -> Response:
    """A key sees the questions that it has asked. Answers are not listed."""
    scope = ("questions", corpus.id, None if kept is None else str(kept))
    before = decode_cursor(cursor, *scope)
    found = await stored.list_questions(container, corpus, kept=kept, limit=limit + 1, before=before)
    last = found[limit - 1].id if len(found) > limit else None
    data = [show_question(corpus, one) for one in found[:limit]]
    return JSONResponse({"data": data, "next_cursor": encode_cursor(last, *scope)})


@stored_router.get("/{id}", dependencies=[READ], summary="One question with its answer", response_model=StoredQuestion)
async def show_one_question(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    return await _show(container, corpus, id)


@stored_router.get(
    "/{id}/events",
    dependencies=[READ],
    summary="A question as server-sent events",
    response_class=StreamingResponse,
    responses=QUESTION_EVENTS_RESPONSES,
)
async def question_events(
    id: str, corpus: CorpusDep, container: ContainerDep, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """The events of a streamed answer, from the first one, or after `Last-Event-ID`; 204 if that was the last."""
    return await follow_question(container, corpus, id, last_event_id)


@stored_router.patch("/{id}", dependencies=[READ], summary="Keep a question", response_model=StoredQuestion)
async def keep_question(id: str, body: QuestionPatchIn, corpus: CorpusDep, container: ContainerDep) -> Response:
    await container.record.questions.set_kept(corpus.id, id, kept=body.kept)
    return await _show(container, corpus, id)


@stored_router.delete("/{id}", dependencies=[READ], status_code=HTTPStatus.NO_CONTENT, summary="Delete a question")
async def delete_question(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    """A question that runs is cancelled."""
    await container.record.questions.delete(corpus.id, id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@stored_router.post("/{id}/cancel", dependencies=[READ], summary="Cancel a question", response_model=StoredQuestion)
async def cancel_question(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    """A question that has ended is returned unchanged."""
    await container.record.questions.cancel(corpus.id, id)
    return await _show(container, corpus, id)


@stored_router.post(
    "/{id}/again",
    dependencies=[READ],
    status_code=HTTPStatus.ACCEPTED,
    summary="Ask a question again",
    response_model=StoredQuestion,
)
async def ask_again(
    id: str, corpus: CorpusDep, container: ContainerDep, http: Request, key: IdempotencyKey = None
) -> Response:
    """The same request, of the corpus as it is now and of the documents that the key may see now."""
    body = load_request(await container.record.questions.get(corpus.id, id))

    async def work() -> StoredQuestion:
        return await _begin(http, container, corpus, body, again_of=id)

    return await _run_once(http, container, corpus, key, work)


@stored_router.post(
    "/{id}/verify",
    dependencies=[READ],
    status_code=HTTPStatus.ACCEPTED,
    summary="Verify the answer of a question",
    response_model=StoredQuestion,
)
async def verify_question(
    id: str, corpus: CorpusDep, container: ContainerDep, http: Request, body: VerifyIn | None = None
) -> Response:
    """Finds which of the documents the answer hangs on, in the background. `verifying` tells how far it is, and
    `verification` what it found; `answer.verification_cost` tells before what it costs. While it runs, a repeated call
    changes nothing. 409 without an answer.
    """
    question = await stored.read_question(container, corpus, id)
    if question.answer is None:
        raise nothing_to_verify(id)
    if VerificationState.of(question.verification).running is None:
        asked, budgets = load_request(question), container.settings.budget
        limits = Limits(
            question=asked.budget.within(budgets),
            verification=(body or VerifyIn()).budget.within(budgets, "budget"),
        )
        request = await _to_request(container, corpus, asked)
        runner: QuestionRunner = http.app.state.questions
        runner.verify(container, corpus, question, request, limits, StoredForm())
    response = await _show(container, corpus, id)
    response.status_code = HTTPStatus.ACCEPTED
    return response


@stored_router.get(
    "/{id}/changes",
    dependencies=[READ],
    summary="What changed since it was asked before",
    response_model=QuestionChanges,
)
async def question_changes(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    """409 for a question that asks no other one again, and while it is answered."""
    return json_response(convert_changes(await stored.compare(container, corpus, id)))


async def _begin(
    http: Request, container: Container, corpus: Corpus, body: QuestionIn, *, again_of: str | None = None
) -> StoredQuestion:
    """Stores a question and begins to answer it. Raises for a request that cannot be answered, and stores nothing."""
    if body.stream:
        raise InvalidInput("`stream` is for `ask`; leave it out, and read the events at …/questions/{id}/events")
    request = await _to_request(container, corpus, body)
    trace = Trace(budget=body.budget.within(container.settings.budget))
    await stored.check_askable(container, corpus, request)
    question = await stored.store_question(container, corpus, dump_request(body), again_of=again_of)
    runner: QuestionRunner = http.app.state.questions
    verify = body.limit_verification(container.settings.budget)
    runner.start(container, corpus, question, request, trace, StoredForm(), verify=verify)
    return load(StoredQuestion, show_question(corpus, question))


async def _to_request(container: Container, corpus: Corpus, body: QuestionIn) -> AskRequest:
    """Returns the request with the conversation that it continues."""
    return await stored.continue_conversation(container, corpus, body.to_request(), body.follows)


async def _run_once(
    http: Request, container: Container, corpus: Corpus, key: str | None, work: Callable[[], Awaitable[StoredQuestion]]
) -> Response:
    """Carries out a request once. Of its receipt, only the id outlives the question."""

    async def recall(id: str) -> StoredQuestion:
        return load(StoredQuestion, show_question(corpus, await stored.read_question(container, corpus, id)))

    return await run_json_once(
        http, container, key, work, locate=lambda made: path_of(corpus, made["id"]), recall=recall
    )


async def _show(container: Container, corpus: Corpus, id: str) -> Response:
    question = await stored.read_question(container, corpus, id)
    return JSONResponse(show_question(corpus, question))
