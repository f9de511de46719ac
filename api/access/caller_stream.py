"""`CallerStream`: the response to one caller, which counts among the caller's open streams, and ends with the key."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable
from http import HTTPStatus

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from api.access.caller import Caller
from api.access.keyring import Keyring
from api.problems import problem_of
from core.errors import RateLimited, Unavailable

__all__ = ["CallerStream"]

_NO_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_STREAM_RETRY_SECONDS = 5.0
_LOOK_SECONDS = 0.5
"""Between two looks at the key of a stream. Keys are read about every second, so a stream outlives its key by two."""


class CallerStream:
    """The response of one request. If it is a stream, it counts among those of its caller.

    Beyond the limit, the stream is refused before its first byte. A stream whose key is revoked or expires, or whose
    session ends, is cut off at its next piece, or within seconds if there is none. In both cases its work ends as if
    the client were gone.
    """

    def __init__(self, open_now: Counter[str], caller: Caller, most: int, send: Send, keyring: Keyring) -> None:
        self._open_now = open_now
        self._caller = caller
        self._most = most
        self._send = send
        self._keyring = keyring
        self._counted = False
        self._task: asyncio.Task[object] | None = None
        self._watch: asyncio.Task[None] | None = None
        self.refused = False
        self.cut = False

    async def run(self, work: Awaitable[None]) -> None:
        """Awaits the application, which sends the response, until it ends or is cut off."""
        self._task = task = asyncio.current_task()
        try:
            await work
        except asyncio.CancelledError:
            if not self.cut or task is None or task.uncancel():
                raise
        except Exception:
            if not self.cut:  # what the application raises when it is cut off depends on where it is
                raise
        finally:
            self._end()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._caller.id and _is_stream(message):
            self._begin()
        elif self._counted:
            await self._look_at_key()
        if self.cut:
            raise ClientDisconnect
        await self._send(message)

    def _begin(self) -> None:
        if self._open_now[self._caller.id] >= self._most:
            self.refused = self.cut = True
        else:
            self._open_now[self._caller.id] += 1
            self._counted = True
            self._watch = asyncio.create_task(self._cut_off_with_key(), name="watching the key of a stream")

    async def _look_at_key(self) -> None:
        with contextlib.suppress(Unavailable):  # a stream goes on while the record does not answer
            await self._keyring.refresh()
        self.cut = self.cut or self._caller.is_expired or not self._keyring.is_active(self._caller.id)

    async def _cut_off_with_key(self) -> None:
        """Cancels the application once the key is gone: it may have nothing to send for long, or wait for a client."""
        while not self.cut:
            await asyncio.sleep(_LOOK_SECONDS)
            await self._look_at_key()
        if self._task is not None:
            self._task.cancel()

    def _end(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._counted:
            self._open_now[self._caller.id] -= 1
            self._open_now += Counter()  # keeps no entry of callers without a stream

    async def refuse(self, scope: Scope, receive: Receive) -> None:
        error = RateLimited(
            f"this key has {self._most} streams open, as many as this server allows "
            "(HOPWEAVE_API__MAX_STREAMS); close one",
            retry_after=_STREAM_RETRY_SECONDS,
        )
        await problem_of(error, scope["path"])(scope, receive, self._send)


def _is_stream(message: Message) -> bool:
    """Whether a response has a body whose length nobody knows yet: events, lines of JSON, an export."""
    has_length = any(name.lower() == b"content-length" for name, _ in message["headers"])
    return not has_length and message["status"] not in _NO_BODY
