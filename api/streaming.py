"""Answers on their way: cancelled when the client hangs up, and told as server-sent events."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from api.problems import details_of
from api.schemas.ask import answer_out
from api.schemas.events import event_out
from core.errors import HopweaveError
from core.ports.reasoning import Answer
from core.trace import Event, Trace

__all__ = ["streamed", "while_connected"]

_log = logging.getLogger("hopweave.api")

T = TypeVar("T")

_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; it is cancelled, and `ClientDisconnect` raised, where the client hangs up before."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_hung_up(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        await _end(task, gone)


async def streamed(request: Request, work: Coroutine[Any, Any, Answer], trace: Trace) -> EventSourceResponse:
    """The events of `trace` while `work` runs, then its answer, or one `error`.

    What fails before the first event is raised, and so becomes an ordinary response with its own status.
    """
    running = _Running(work, trace, request.url.path)
    begun = False
    try:
        await while_connected(request, running.begin())
        begun = True
    finally:
        if not begun:
            await running.end()
    return _EventStream(running)


class _Running:
    """A question in work. `_told` ends with None, when the work is done."""

    def __init__(self, work: Coroutine[Any, Any, Answer], trace: Trace, instance: str) -> None:
        self._trace = trace
        self._instance = instance
        self._number = 0
        self._begun: list[bytes] = []
        self._told: asyncio.Queue[bytes | None] = asyncio.Queue()
        trace.listeners.append(self._tell)
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(lambda _: self._told.put_nowait(None))

    async def begin(self) -> None:
        """Wait for the first event, but not longer than for a ping; raises what `work` raised before any."""
        first = await self._next()
        if first is None:
            self._task.result()
            self._told.put_nowait(None)
        else:
            self._begun.append(first)

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._begun:
            yield piece
        while (told := await self._next()) is not None:
            yield told
        yield self._last()

    async def end(self) -> None:
        await _end(self._task)

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(_PING_SECONDS):
                return await self._told.get()
        except TimeoutError:
            return KEEPALIVE_COMMENT

    def _tell(self, event: Event) -> None:
        if (data := event_out(event)) is not None:
            self._told.put_nowait(self._event(event.kind, data.model_dump_json()))

    def _last(self) -> bytes:
        error = self._task.exception()
        if error is None:
            return self._event("answer", answer_out(self._task.result(), self._trace).model_dump_json())
        if not isinstance(error, HopweaveError):
            _log.error("%s failed", self._instance, exc_info=error)
        return self._event("error", json.dumps(details_of(error, self._instance)))

    def _event(self, kind: str, data: str) -> bytes:
        self._number += 1
        return format_sse_event(id=str(self._number), event=kind, data_str=data)


class _EventStream(EventSourceResponse):
    """Whichever way the response ends, the work does too."""

    def __init__(self, running: _Running) -> None:
        super().__init__(running.pieces(), headers=_HEADERS)
        self._running = running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._running.end()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
