"""The two ways to send an answer: whole (`send_answer`), or as server-sent events with its trace (`stream_answer`)."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from api.connection import cancel_all, run_while_connected
from api.deps import json_response
from api.problems import details_of
from api.schemas.ask import AnswerOut
from api.schemas.events import convert_event
from core.errors import HopweaveError
from core.faults import describe_bug
from core.ports.reasoning import Answer
from core.trace import Event, Trace

__all__ = ["send_answer", "stream_answer"]

_log = logging.getLogger("hopweave.api")

_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def send_answer(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace) -> Response:
    """Returns a response with the answer of `work`, which is cancelled if the client disconnects before."""
    return json_response(AnswerOut.from_answer(await run_while_connected(request, work), trace))


async def stream_answer(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace) -> EventSourceResponse:
    """Returns a response that sends the events of `trace` while `work` runs, then its answer, or one `error`.

    An error before the first event is raised, so that it becomes an ordinary response with its own status.
    """
    stream = _AnswerStream(work, trace, request.url.path)
    started = False
    try:
        await run_while_connected(request, stream.wait_for_first())
        started = True
    finally:
        if not started:
            await stream.cancel()
    return _StreamResponse(stream)


class _AnswerStream:
    """A question that is being answered, as pieces of an event stream.

    `_queue` holds the pieces that are not sent yet; None is put into it when the work has ended.
    """

    def __init__(self, work: Coroutine[Any, Any, Answer], trace: Trace, instance: str) -> None:
        self._trace = trace
        self._instance = instance
        self._number = 0
        self._first: list[bytes] = []
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        trace.listeners.append(self._enqueue)
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(lambda _: self._queue.put_nowait(None))

    async def wait_for_first(self) -> None:
        """Waits for the first event, but no longer than until a ping is due; raises what the work raised before it."""
        first = await self._next()
        if first is None:
            self._task.result()
            self._queue.put_nowait(None)
        else:
            self._first.append(first)

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._first:
            yield piece
        while (queued := await self._next()) is not None:
            yield queued
        yield self._last()

    async def cancel(self) -> None:
        await cancel_all(self._task)

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(_PING_SECONDS):
                return await self._queue.get()
        except TimeoutError:
            return KEEPALIVE_COMMENT

    def _enqueue(self, event: Event) -> None:
        if (data := convert_event(event)) is not None:
            self._queue.put_nowait(self._format(event.kind, data.model_dump_json()))

    def _last(self) -> bytes:
        error = self._task.exception()
        if error is None:
            return self._format("answer", AnswerOut.from_answer(self._task.result(), self._trace).model_dump_json())
        if not isinstance(error, HopweaveError):
            _log.error("%s failed: %s", self._instance, describe_bug(error))
        return self._format("error", json.dumps(details_of(error, self._instance)))

    def _format(self, kind: str, data: str) -> bytes:
        self._number += 1
        return format_sse_event(id=str(self._number), event=kind, data_str=data)


class _StreamResponse(EventSourceResponse):
    """Cancels the work however the response ends: sent, failed, or the client gone."""

    def __init__(self, stream: _AnswerStream) -> None:
        super().__init__(stream.pieces(), headers=_HEADERS)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._stream.cancel()
