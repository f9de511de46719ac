"""The routes of stored questions: ask, list, show, follow, keep, cancel, ask again, compare, delete."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.responses import JSONResponse, StreamingResponse

from api.access.scopes import READ
from api.cursors import decode_cursor, encode_cursor
from api.deps import ContainerDep, CorpusDep, json_response
from api.idempotency import IdempotencyKey, run_json_once
from api.parameters import Limit
from api.schemas.answers.questions import (
    QuestionChangesOut,
    QuestionIn,
    QuestionListOut,
    QuestionOut,
    QuestionPatchIn,
    StoredForm,
    VerifyIn,
    dump_request,
    load_request,
    path_of,
    show_question,
)
from api.schemas.ask import AskIn
from api.schemas.stream import QUESTION_EVENTS_RESPONSES
from api.streams.questions import follow_question
from app.container import Container
from app.services.stored_questions import questions
from app.services.stored_questions.runner import QuestionRunner
from app.services.stored_questions.verifying import Limits, VerificationState
from core.corpora import Corpus
from core.errors import InvalidInput
from core.record_policy.questions import nothing_to_verify
from core.trace import Trace

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpora/{corpus}/questions", tags=["questions"])


@router.post(
    "",
    dependencies=[READ],
    status_code=HTTPStatus.ACCEPTED,
    summary="Ask in the background",
    response_model=QuestionOut,
)
async def ask_in_background(
    corpus: CorpusDep, body: QuestionIn, container: ContainerDep, http: Request, key: IdempotencyKey = None
) -> Response:
    """The question is answered also if the client disconnects. `Location` is its address, at which it can be followed
    and its answer be read.
    """

    async def work() -> QuestionOut:
        return await _begin(http, container, corpus, body)

    return await _run_once(http, container, corpus, key, work)


@router.get("", dependencies=[READ], summary="List questions, newest first", response_model=QuestionListOut)
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
    found = await questions.list_questions(container, corpus, kept=kept, limit=limit + 1, before=before)
    last = found[limit - 1].id if len(found) > limit else None
    data = [show_question(corpus, one) for one in found[:limit]]
    return JSONResponse({"data": data, "next_cursor": encode_cursor(last, *scope)})


@router.get("/{id}", dependencies=[READ], summary="One question with its answer", response_model=QuestionOut)
async def show_one_question(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    return await _show(container, corpus, id)


@router.get(
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


@router.patch("/{id}", dependencies=[READ], summary="Keep a question", response_model=QuestionOut)
async def keep_question(id: str, body: QuestionPatchIn, corpus: CorpusDep, container: ContainerDep) -> Response:
    await container.record.questions.set_kept(corpus.id, id, kept=body.kept)
    return await _show(container, corpus, id)


@router.delete("/{id}", dependencies=[READ], status_code=HTTPStatus.NO_CONTENT, summary="Delete a question")
async def delete_question(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    """A question that runs is cancelled."""
    await container.record.questions.delete(corpus.id, id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.post("/{id}/cancel", dependencies=[READ], summary="Cancel a question", response_model=QuestionOut)
async def cancel_question(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    """A question that has ended is returned unchanged."""
    await container.record.questions.cancel(corpus.id, id)
    return await _show(container, corpus, id)


@router.post(
    "/{id}/again",
    dependencies=[READ],
    status_code=HTTPStatus.ACCEPTED,
    summary="Ask a question again",
    response_model=QuestionOut,
)
async def ask_again(
    id: str, corpus: CorpusDep, container: ContainerDep, http: Request, key: IdempotencyKey = None
) -> Response:
    """The same request, of the corpus as it is now and of the documents that the key may see now."""
    body = load_request(await container.record.questions.get(corpus.id, id))

    async def work() -> QuestionOut:
        return await _begin(http, container, corpus, body, again_of=id)

    return await _run_once(http, container, corpus, key, work)


@router.post(
    "/{id}/verify",
    dependencies=[READ],
    status_code=HTTPStatus.ACCEPTED,
    summary="Verify the answer of a question",
    response_model=QuestionOut,
)
async def verify_question(
    id: str, corpus: CorpusDep, container: ContainerDep, http: Request, body: VerifyIn | None = None
) -> Response:
    """Finds which of the documents the answer hangs on, in the background. `verifying` tells how far it is, and
    `verification` what it found; `answer.verification_cost` tells before what it costs. While it runs, a repeated call
    changes nothing. 409 without an answer.
    """
    question = await questions.read_question(container, corpus, id)
    if question.answer is None:
        raise nothing_to_verify(id)
    if VerificationState.of(question.verification).running is None:
        asked, budgets = load_request(question), container.settings.budget
        limits = Limits(
            question=asked.budget.within(budgets),
            verification=(body or VerifyIn()).budget.within(budgets, "budget"),
        )
        runner: QuestionRunner = http.app.state.questions
        runner.verify(container, corpus, question, asked.to_request(), limits, StoredForm())
    response = await _show(container, corpus, id)
    response.status_code = HTTPStatus.ACCEPTED
    return response


@router.get(
    "/{id}/changes",
    dependencies=[READ],
    summary="What changed since it was asked before",
    response_model=QuestionChangesOut,
)
async def question_changes(id: str, corpus: CorpusDep, container: ContainerDep) -> Response:
    """409 for a question that asks no other one again, and while it is answered."""
    return json_response(QuestionChangesOut.from_changes(await questions.compare(container, corpus, id)))


async def _begin(
    http: Request, container: Container, corpus: Corpus, body: AskIn, *, again_of: str | None = None
) -> QuestionOut:
    """Stores a question and begins to answer it. Raises for a request that cannot be answered, and stores nothing."""
    if body.stream:
        raise InvalidInput("`stream` is for `ask`; leave it out, and read the events at …/questions/{id}/events")
    request, trace = body.to_request(), Trace(budget=body.budget.within(container.settings.budget))
    await questions.check_askable(container, corpus, request)
    question = await questions.store_question(container, corpus, dump_request(body), again_of=again_of)
    runner: QuestionRunner = http.app.state.questions
    verify = body.limit_verification(container.settings.budget)
    runner.start(container, corpus, question, request, trace, StoredForm(), verify=verify)
    return QuestionOut.model_validate(show_question(corpus, question))


async def _run_once(
    http: Request, container: Container, corpus: Corpus, key: str | None, work: Callable[[], Awaitable[QuestionOut]]
) -> Response:
    """Carries out a request once. Of its receipt, only the id outlives the question."""

    async def recall(id: str) -> QuestionOut:
        return QuestionOut.model_validate(show_question(corpus, await questions.read_question(container, corpus, id)))

    return await run_json_once(
        http, container, key, work, locate=lambda made: path_of(corpus, made["id"]), recall=recall
    )


async def _show(container: Container, corpus: Corpus, id: str) -> Response:
    question = await questions.read_question(container, corpus, id)
    return JSONResponse(show_question(corpus, question))
