"""The blocking client. Its methods are described in `hopweave._operations`."""

import time
import weakref
from collections.abc import Callable, Iterator
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

__all__ = ["Client"]

P = ParamSpec("P")
T = TypeVar("T")


def _method(operation: Callable[P, Steps[T]]) -> "Callable[Concatenate[Client, P], T]":
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._run(operation(*args, **kwargs))

    return describe(method, operation)


def _followed(operation: Callable[[str], Request]) -> "Callable[[Client, str], Iterator[Job]]":
    def method(self: "Client", /, job: str) -> Iterator[Job]:
        return self._follow(operation(job))

    return describe(method, operation, name="follow_job", doc=FOLLOW_JOB, returns=Iterator[Job])


def _events(ask: Callable[P, Steps[Answer]]) -> "Callable[Concatenate[Client, P], Iterator[Event]]":
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Event]:
        return self._stream(questions.streamed(ask(*args, **kwargs)))

    return describe(method, ask, name="ask_events", doc=ASK_EVENTS, returns=Iterator[Event])


def _stored(ask: Callable[P, Steps[Answer]]) -> "Callable[Concatenate[Client, P], StoredQuestion]":
    def method(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> StoredQuestion:
        return self._run(stored_questions.stored(ask(*args, **kwargs)))

    return describe(method, ask, name="ask_in_background", doc=ASK_IN_BACKGROUND, returns=StoredQuestion)


class Client:
    """A Hopweave server, as `hopweave.open` and `hopweave.connect` return it. Threads may share it.

    Close it with `close()` or as a context manager; a server that it started is then stopped.
    """

    def __init__(self, connection: Connection, *, transport: httpx.BaseTransport | None, child: Child | None) -> None:
        self._connection = connection
        self._child = child
        self._http = httpx.Client(transport=transport, **connection.options)
        self._stop = weakref.finalize(self, child.stop) if child else None

    def __repr__(self) -> str:
        return f"<hopweave.Client {self._connection.url}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, and stops the server if `hopweave.open` started it."""
        self._http.close()
        if self._stop is not None:
            self._stop()

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

    def _start(self, seconds: float) -> None:
        """Starts the server process, and waits until it is ready."""
        if self._child is not None:
            self._child.start()
            self._run(self._child.until_ready(seconds))

    def _run(self, steps: Steps[T]) -> T:
        try:
            todo = next(steps)
            while True:
                try:
                    result = self._carry_out(todo)
                except HopweaveError as error:
                    todo = steps.throw(error)
                else:
                    todo = steps.send(result)
        except StopIteration as end:
            returned: T = end.value
            return returned

    def _carry_out(self, step: Request | Pause | Read) -> object:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Read):
            return step.function()
        self._check_started()
        content: dict[str, Any] = {} if step.upload is None else {"content": read_pieces(step.upload)}
        try:
            with self._http.stream(**self._connection.arguments(step), **content) as response:
                if not response.is_success:
                    raise problem(response.read(), response.status_code)
                return response.read() if step.download is None else self._write(response, step.download)
        except httpx.RequestError as error:
            raise self._failure(error) from error

    @staticmethod
    def _write(response: httpx.Response, path: Path) -> int:
        with Draft(path) as draft:
            for piece in response.iter_bytes():
                draft.write(piece)
            return draft.keep()

    def _stream(self, request: Request) -> Iterator[Event]:
        self._check_started()
        reader = EventReader(EVENTS, last="answer")
        try:
            with self._http.stream(**self._connection.arguments(request)) as response:
                if not response.is_success:
                    raise problem(response.read(), response.status_code)
                for piece in response.iter_bytes():
                    yield from reader.feed(piece)
                reader.check_end()
        except httpx.RequestError as error:
            raise self._failure(error) from error

    def _follow(self, request: Request) -> Iterator[Job]:
        reader = EventReader(JOB_EVENTS, last="end")
        pauses = iter(FOLLOW_PAUSES)
        while True:
            self._check_started()
            headers = {"Last-Event-ID": reader.last_id} if reader.last_id else {}
            try:
                with self._http.stream(**self._connection.arguments(replace(request, headers=headers))) as response:
                    if not response.is_success:
                        raise problem(response.read(), response.status_code)
                    if response.status_code == NO_CONTENT:
                        return
                    for piece in response.iter_bytes():
                        for job in reader.feed(piece):
                            pauses = iter(FOLLOW_PAUSES)
                            yield job
                    reader.check_end()
                    return
            except httpx.RequestError as error:
                pause = next(pauses, None)
                if pause is None:
                    raise self._failure(error) from error
                reader.restart()
                time.sleep(pause)

    def _failure(self, error: httpx.RequestError) -> HopweaveError:
        ended = None if self._child is None else self._child.failure()
        return ended or self._connection.failure(error)

    def _check_started(self) -> None:
        if self._child is not None:
            self._child.check_started()
