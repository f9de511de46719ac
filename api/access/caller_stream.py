"""`CallerStream`: the response to one caller, which counts among the caller's open streams, and ends with the key."""

import contextlib
from collections import Counter
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


class CallerStream:
    """The response of one request. If it is a stream, it counts among those of its caller.

    Beyond the limit, the stream is refused before its first byte. A stream whose key is revoked or expires, or whose
    session ends, is cut off at its next piece or ping. In both cases its work ends as if the client were gone.
    """

    def __init__(self, open_now: Counter[str], caller: Caller, most: int, send: Send, keyring: Keyring) -> None:
        self._open_now = open_now
        self._caller = caller
        self._most = most
        self._send = send
        self._keyring = keyring
        self._counted = False
        self.refused = False
        self.cut = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._caller.id and _is_stream(message):
            self._begin()
        elif self._counted:
            with contextlib.suppress(Unavailable):  # a stream goes on while the record does not answer
                await self._keyring.refresh()
            self.cut = self.cut or self._caller.is_expired or not self._keyring.is_active(self._caller.id)
        if self.cut:
            raise ClientDisconnect
        await self._send(message)

    def _begin(self) -> None:
        if self._open_now[self._caller.id] >= self._most:
            self.refused = self.cut = True
        else:
            self._open_now[self._caller.id] += 1
            self._counted = True

    def end(self) -> None:
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
