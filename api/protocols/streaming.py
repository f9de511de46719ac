"""`stream_reply`: a reply that is sent while it is written, in the form of a protocol."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import Any, Protocol

from fastapi import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.connection import cancel_all, run_while_connected
from api.problems import details_of
from api.protocols.reply import Reply, find_rest
from core.errors import HopweaveError

__all__ = ["OnText", "Wire", "stream_reply"]

_log = logging.getLogger("hopweave.api")

_PING_SECONDS = 15.0
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

OnText = Callable[[str], None]
"""Called with each piece of a text while it is written."""


class Wire(Protocol):
    """The form in which a protocol sends a stream. `ping` is sent while there is nothing else to send."""

    @property
    def media_type(self) -> str: ...

    @property
    def ping(self) -> bytes: ...

    def begin(self) -> bytes:
        """Returns what comes before the first piece; b'' for nothing."""
        ...

    def send_text(self, piece: str) -> bytes: ...

    def end(self, reply: Reply, offset: int) -> Iterator[bytes]:
        """Yields what follows the text, which begins at `offset` of all that was sent."""
        ...

    def send_error(self, details: dict[str, Any]) -> bytes:
        """Returns the error of a stream that has begun, from the details of a problem."""
        ...


async def stream_reply(
    request: Request, work: Callable[[OnText], Coroutine[Any, Any, Reply]], wire: Wire, stops: Sequence[str]
) -> StreamingResponse:
    """Returns a response that sends the text of a reply as `work` writes it, and ends the work with the connection.

    `work` is called with what takes the pieces of its text. The response begins with the first piece, or when a ping is
    due: an error before is raised, and gets a status of its own.
    """
    stream = _ReplyStream(work, wire, request.url.path, stops)
    started = False
    try:
        await run_while_connected(request, stream.wait_for_first())
        started = True
    finally:
        if not started:
            await stream.cancel()
    return _Response(stream, wire.media_type)


class _ReplyStream:
    """A reply that is being written. `_queue` has the pieces that are not sent yet, and None when the work has ended.

    `_sent` is the text that was put into it.
    """

    def __init__(
        self,
        work: Callable[[OnText], Coroutine[Any, Any, Reply]],
        wire: Wire,
        instance: str,
        stops: Sequence[str],
    ) -> None:
        self._wire = wire
        self._instance = instance
        self._stops = stops
        self._held = ""
        self._stopped = False
        self._sent = ""
        self._first: list[bytes] = []
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._task = asyncio.create_task(work(self._take))
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
        if begin := self._wire.begin():
            yield begin
        for piece in self._first:
            yield piece
        while (queued := await self._next()) is not None:
            yield queued
        error = self._task.exception()
        if error is not None:
            if not isinstance(error, HopweaveError):
                _log.error("%s failed: %s", self._instance, type(error).__name__)
            yield self._wire.send_error(details_of(error, self._instance))
            return
        reply = self._task.result()
        rest, offset = find_rest(self._sent, reply.text)
        if rest:
            yield self._wire.send_text(rest)
        for last in self._wire.end(reply, offset):
            yield last

    async def cancel(self) -> None:
        await cancel_all(self._task)

    async def _next(self) -> bytes | None:
        try:
            async with asyncio.timeout(_PING_SECONDS):
                return await self._queue.get()
        except TimeoutError:
            return self._wire.ping

    def _take(self, piece: str) -> None:
        """Queues a piece, up to the first stop. What may be the beginning of a stop is held back."""
        if self._stopped:
            return
        self._held += piece if self._sent or self._held else piece.lstrip()
        ends = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        self._stopped = bool(ends)
        ready = self._held[: min(ends)] if ends else self._held[: _find_open_stop(self._held, self._stops)]
        self._held = self._held[len(ready) :]
        if ready:
            self._sent += ready
            self._queue.put_nowait(self._wire.send_text(ready))


def _find_open_stop(text: str, stops: Sequence[str]) -> int:
    """Returns where the stop begins that the end of the text may belong to; the length of the text if none does."""
    longest = max((len(stop) for stop in stops), default=1)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        if any(stop.startswith(text[start:]) for stop in stops):
            return start
    return len(text)


class _Response(StreamingResponse):
    """Cancels the work however the response ends: sent, failed, or the client gone."""

    def __init__(self, stream: _ReplyStream, media_type: str) -> None:
        super().__init__(stream.pieces(), media_type=media_type, headers=_HEADERS)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._stream.cancel()
