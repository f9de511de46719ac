"""`stream_work`: a response that is sent while the work that makes it runs.

An answer is sent whole (`send_answer`), or as server-sent events with its trace (`stream_answer`).
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Generic, Protocol, TypeVar

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from api.deps import cancel_all, json_response, run_while_connected
from api.problems import details_of
from api.schemas.ask import convert_answer
from api.schemas.events import convert_event
from api.schemas.values import dump_json
from app.services.links import Links
from core.errors import HopweaveError
from core.faults import describe_bug
from core.ports.reasoning import Answer
from core.trace import Event, Trace

_log = logging.getLogger("hopweave.api")

_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Put = Callable[[bytes], None]
"""Called by the work with each piece to send."""

_Made = TypeVar("_Made")
_Made_contra = TypeVar("_Made_contra", contravariant=True)


class StreamForm(Protocol[_Made_contra]):
    """The form of a stream. `ping` is sent while there is nothing else to send."""

    @property
    def media_type(self) -> str: ...

    @property
    def ping(self) -> bytes: ...

    def begin(self) -> bytes:
        """Returns what comes before the first piece; b'' for nothing."""
        ...

    def end(self, made: _Made_contra) -> Iterator[bytes]:
        """Yields what follows the last piece, from what the work returned."""
        ...

    def send_error(self, details: dict[str, Any]) -> bytes:
        """Returns the error of a stream that has begun, from the details of a problem."""
        ...


async def stream_work(
    request: Request, work: Callable[[Put], Coroutine[Any, Any, _Made]], form: StreamForm[_Made]
) -> StreamingResponse:
    """Returns a response that sends the pieces which `work` puts, then the end; it ends the work with the connection.

    The response begins with the first piece, or when a ping is due. An error before is raised, so that it becomes an
    ordinary response with its own status.
    """
    stream = _WorkStream(work, form, request.url.path)
    started = False
    try:
        await run_while_connected(request, stream.wait_for_first())
        started = True
    finally:
        if not started:
            await stream.cancel()
    return _Response(stream, form.media_type)


class _WorkStream(Generic[_Made]):
    """Work that runs. `_queue` has the pieces that are not sent yet, and None when the work has ended."""

    def __init__(
        self, work: Callable[[Put], Coroutine[Any, Any, _Made]], form: StreamForm[_Made], instance: str
    ) -> None:
        self._form = form
        self._instance = instance
        self._first: list[bytes] = []
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._task = asyncio.create_task(work(self._queue.put_nowait))
        self._task.add_done_callback(lambda _: self._queue.put_nowait(None))

    async def wait_for_first(self) -> None:
        """Waits for the first piece, or a ping; raises what the work raised before it."""
        first = await self._next()
        if first is None:
            self._task.result()
            self._queue.put_nowait(None)
        else:
            self._first.append(first)

    async def pieces(self) -> AsyncIterator[bytes]:
        if begin := self._form.begin():
            yield begin
        for piece in self._first:
            yield piece
        while (queued := await self._next()) is not None:
            yield queued
        error = self._task.exception()
        if error is None:
            for last in self._form.end(self._task.result()):
                yield last
            return
        if not isinstance(error, HopweaveError):
            _log.error("%s failed: %s", self._instance, describe_bug(error))
        yield self._form.send_error(details_of(error, self._instance))

    async def cancel(self) -> None:
        await cancel_all(self._task)

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(_PING_SECONDS):
                return await self._queue.get()
        except TimeoutError:
            return self._form.ping


class _Response(StreamingResponse):
    """Cancels the work however the response ends: sent, failed, or the client gone."""

    def __init__(self, stream: _WorkStream[Any], media_type: str) -> None:
        super().__init__(stream.pieces(), media_type=media_type, headers=_HEADERS)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._stream.cancel()


async def send_answer(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace, links: Links) -> Response:
    """Returns a response with the answer of `work`, which is cancelled if the client disconnects before."""
    return json_response(convert_answer(await run_while_connected(request, work), trace, links))


async def stream_answer(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace, links: Links) -> Response:
    """Returns a response that sends the events of `trace` while `work` runs, then its answer, or one `error`.

    An error before the first event is raised, so that it becomes an ordinary response with its own status.
    """
    events = _Events(trace, links)

    def begin(put: Put) -> Coroutine[Any, Any, Answer]:
        def listen(event: Event) -> None:
            if (data := convert_event(event, links)) is not None:
                put(events.format(event.kind, dump_json(data)))

        trace.listeners.append(listen)
        return work

    return await stream_work(request, begin, events)


class _Events:
    """The stream of an answer as numbered server-sent events (a `StreamForm`)."""

    media_type = "text/event-stream"
    ping = KEEPALIVE_COMMENT

    def __init__(self, trace: Trace, links: Links) -> None:
        self._trace = trace
        self._links = links
        self._number = 0

    def begin(self) -> bytes:
        return b""

    def end(self, made: Answer) -> Iterator[bytes]:
        yield self.format("answer", dump_json(convert_answer(made, self._trace, self._links)))

    def send_error(self, details: dict[str, Any]) -> bytes:
        return self.format("error", json.dumps(details))

    def format(self, kind: str, data: str) -> bytes:
        self._number += 1
        return format_sse_event(id=str(self._number), event=kind, data_str=data)
