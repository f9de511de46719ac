"""The asynchronous client, for asyncio. It has the methods of `hopweave._client`, as coroutines."""

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from http.client import NO_CONTENT
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from hopweave._child import Child
from hopweave._connection import Connection
from hopweave._errors import HopweaveError, problem
from hopweave._events import EventReader
from hopweave._methods import ASK_EVENTS, ASK_IN_BACKGROUND, FOLLOW_JOB, FOLLOW_PAUSES, describe
from hopweave._operations import (
    corpora,
    documents,
    entities,
    ingestion,
    jobs,
    made_questions,
    questions,
    stored_questions,
)
from hopweave._steps import Pause, Read, Request, Steps
from hopweave._transfer import Draft, read_pieces
from hopweave.wire.answers import Answer
from hopweave.wire.events import EVENTS, Event
from hopweave.wire.jobs import JOB_EVENTS, Job
from hopweave.wire.questions import StoredQuestion

__all__ = ["AsyncClient"]

P = ParamSpec("P")
T = TypeVar("T")


def _method(operation: Callable[P, Steps[T]]) -> "Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]":
    async def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(operation(*args, **kwargs))

    return describe(method, operation)


def _followed(operation: Callable[[str], Request]) -> "Callable[[AsyncClient, str], AsyncIterator[Job]]":
    def method(self: "AsyncClient", /, job: str) -> AsyncIterator[Job]:
        return self._follow(operation(job))

    return describe(method, operation, name="follow_job", doc=FOLLOW_JOB, returns=AsyncIterator[Job])


def _events(ask: Callable[P, Steps[Answer]]) -> "Callable[Concatenate[AsyncClient, P], AsyncIterator[Event]]":
    def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Event]:
        return self._stream(questions.streamed(ask(*args, **kwargs)))

    return describe(method, ask, name="ask_events", doc=ASK_EVENTS, returns=AsyncIterator[Event])


def _stored(
    ask: Callable[P, Steps[Answer]],
) -> "Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, StoredQuestion]]":
    async def method(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> StoredQuestion:
        return await self._run(stored_questions.stored(ask(*args, **kwargs)))

    return describe(method, ask, name="ask_in_background", doc=ASK_IN_BACKGROUND, returns=StoredQuestion)


class AsyncClient:
    """A Hopweave server, as `hopweave.open_async` and `hopweave.connect_async` return it.

    It is an asynchronous context manager; entering it starts the server that `open_async` names, and leaving it stops
    that server. It belongs to one event loop.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        transport: httpx.AsyncBaseTransport | None,
        child: Child | None,
        start_seconds: float,
    ) -> None:
        self._connection = connection
        self._child = child
        self._start_seconds = start_seconds
        self._http = httpx.AsyncClient(transport=transport, **connection.options)
        self._stop = weakref.finalize(self, child.stop) if child else None

    def __repr__(self) -> str:
        return f"<hopweave.AsyncClient {self._connection.url}>"

    async def __aenter__(self) -> Self:
        if self._child is not None:
            try:
                await asyncio.to_thread(self._child.start)
                await self._run(self._child.until_ready(self._start_seconds))
            except BaseException:
                await self.aclose()
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections, and stops the server if entering this client started it."""
        await self._http.aclose()
        if self._stop is not None:
            await asyncio.to_thread(self._stop)

    list_corpora = _method(corpora.list_corpora)
    create_corpus = _method(corpora.create_corpus)
    get_corpus = _method(corpora.get_corpus)
    rename_corpus = _method(corpora.rename_corpus)
    reindex_corpus = _method(corpora.reindex_corpus)
    import_corpus = _method(corpora.import_corpus)
    export_corpus = _method(corpora.export_corpus)
    delete_corpus = _method(corpora.delete_corpus)
    list_certificates = _method(corpora.list_certificates)
    ingest = _method(ingestion.ingest)
    estimate = _method(ingestion.estimate)
    list_documents = _method(documents.list_documents)
    get_document = _method(documents.get_document)
    change_document = _method(documents.change_document)
    compare_documents = _method(documents.compare_documents)
    get_content = _method(documents.get_content)
    get_page = _method(documents.get_page)
    get_page_image = _method(documents.get_page_image)
    delete_documents = _method(documents.delete_documents)
    set_access = _method(documents.set_access)
    retry_document = _method(documents.retry_document)
    list_chunks = _method(documents.list_chunks)
    get_chunk = _method(documents.get_chunk)
    find_entities = _method(entities.find_entities)
    get_entity = _method(entities.get_entity)
    get_neighbourhood = _method(entities.get_neighbourhood)
    find_ways = _method(entities.find_ways)
    merge_entities = _method(entities.merge_entities)
    list_merges = _method(entities.list_merges)
    undo_merge = _method(entities.undo_merge)
    list_proposals = _method(entities.list_proposals)
    reject_proposal = _method(entities.reject_proposal)
    list_rejections = _method(entities.list_rejections)
    withdraw_rejection = _method(entities.withdraw_rejection)
    get_resolution = _method(entities.get_resolution)
    set_resolution = _method(entities.set_resolution)
    get_schema = _method(entities.get_schema)
    set_schema = _method(entities.set_schema)
    delete_schema = _method(entities.delete_schema)
    search = _method(questions.search)
    ask = _method(questions.ask)
    ask_events = _events(questions.ask)
    ask_in_background = _stored(questions.ask)
    list_questions = _method(stored_questions.list_questions)
    get_question = _method(stored_questions.get_question)
    wait_for_question = _method(stored_questions.wait_for_question)
    keep_question = _method(stored_questions.keep_question)
    cancel_question = _method(stored_questions.cancel_question)
    ask_again = _method(stored_questions.ask_again)
    verify_question = _method(stored_questions.verify_question)
    compare_question = _method(stored_questions.compare_question)
    delete_question = _method(stored_questions.delete_question)
    make_questions = _method(made_questions.make_questions)
    measure_searchers = _method(made_questions.measure_searchers)
    list_jobs = _method(jobs.list_jobs)
    get_job = _method(jobs.get_job)
    follow_job = _followed(jobs.followed)
    wait_for_job = _method(jobs.wait_for_job)
    cancel_job = _method(jobs.cancel_job)
    resume_job = _method(jobs.resume_job)

    async def _run(self, steps: Steps[T]) -> T:
        try:
            todo = next(steps)
            while True:
                try:
                    result = await self._carry_out(todo)
                except HopweaveError as error:
                    todo = steps.throw(error)
                else:
                    todo = steps.send(result)
        except StopIteration as end:
            returned: T = end.value
            return returned

    async def _carry_out(self, step: Request | Pause | Read) -> object:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Read):
            return await asyncio.to_thread(step.function)
        self._check_started()
        content: dict[str, Any] = {} if step.upload is None else {"content": _read_pieces(step.upload)}
        try:
            async with self._http.stream(**self._connection.arguments(step), **content) as response:
                if not response.is_success:
                    raise problem(await response.aread(), response.status_code)
                return await response.aread() if step.download is None else await self._write(response, step.download)
        except httpx.RequestError as error:
            raise await self._failure(error) from error

    @staticmethod
    async def _write(response: httpx.Response, path: Path) -> int:
        with Draft(path) as draft:
            async for piece in response.aiter_bytes():
                await asyncio.to_thread(draft.write, piece)
            return draft.keep()

    async def _stream(self, request: Request) -> AsyncIterator[Event]:
        self._check_started()
        reader = EventReader(EVENTS, last="answer")
        try:
            async with self._http.stream(**self._connection.arguments(request)) as response:
                if not response.is_success:
                    raise problem(await response.aread(), response.status_code)
                async for piece in response.aiter_bytes():
                    for event in reader.feed(piece):
                        yield event
                reader.check_end()
        except httpx.RequestError as error:
            raise await self._failure(error) from error

    async def _follow(self, request: Request) -> AsyncIterator[Job]:
        reader = EventReader(JOB_EVENTS, last="end")
        pauses = iter(FOLLOW_PAUSES)
        while True:
            self._check_started()
            headers = {"Last-Event-ID": reader.last_id} if reader.last_id else {}
            arguments = self._connection.arguments(replace(request, headers=headers))
            try:
                async with self._http.stream(**arguments) as response:
                    if not response.is_success:
                        raise problem(await response.aread(), response.status_code)
                    if response.status_code == NO_CONTENT:
                        return
                    async for piece in response.aiter_bytes():
                        for job in reader.feed(piece):
                            pauses = iter(FOLLOW_PAUSES)
                            yield job
                    reader.check_end()
                    return
            except httpx.RequestError as error:
                pause = next(pauses, None)
                if pause is None:
                    raise await self._failure(error) from error
                reader.restart()
                await asyncio.sleep(pause)

    async def _failure(self, error: httpx.RequestError) -> HopweaveError:
        ended = None if self._child is None else await asyncio.to_thread(self._child.failure)
        return ended or self._connection.failure(error)

    def _check_started(self) -> None:
        if self._child is not None:
            self._child.check_started()


async def _read_pieces(path: Path) -> AsyncIterator[bytes]:
    pieces = read_pieces(path)
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece
