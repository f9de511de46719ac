"""Bounds of what an endpoint answers: bytes, values, the length of an event, and seconds. An endpoint may be hostile.

Answers are asked for uncompressed, and refused compressed: a megabyte may become a gigabyte. They are read as UTF-8,
whatever they say that they are: Python has codecs that take long, and that raise what no client expects. The bounds are
hooks of a client of httpx, or of the copy of httpx that the OpenAI client uses.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

_MEGABYTE = 1024 * 1024
_STREAM = "text/event-stream"
_ENDS = "hopweave.ends"
_ENDS_OF_EVENTS = (b"\n\n", b"\n\r\n", b"\r\r")
_LONGEST_END = 3


class AnswerRefused(Exception):
    """The message says what the endpoint did, such as "sent more than 32 MB"."""


@dataclass(frozen=True, kw_only=True)
class AnswerBounds:
    """`whole` bytes of an answer with `values` of JSON, `stream` bytes of an answer that is sent as events, and `event`
    bytes of each of these.

    `seconds` is the time from the request to the end of an answer that is no stream.
    """

    whole: int = 32 * _MEGABYTE
    stream: int = 512 * _MEGABYTE
    event: int = 8 * _MEGABYTE
    values: int = 2_000_000
    seconds: float


def bounding_hooks(bounds: AnswerBounds, *, blocking: bool = False) -> dict[str, list[Callable[..., Any]]]:
    """Returns `event_hooks` of a client. Its calls raise `AnswerRefused` where an answer exceeds a bound, which the
    OpenAI client wraps in its own error.

    `blocking`: the client is synchronous.
    """

    def on_request(request: Any) -> None:
        request.headers["Accept-Encoding"] = "identity"
        request.extensions = {**request.extensions, _ENDS: time.monotonic() + bounds.seconds}

    def on_response(response: Any) -> None:
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in ("", "identity"):
            raise AnswerRefused(f"sent its answer compressed ({encoding[:20]}), which was not asked for")
        response.encoding = "utf-8"
        is_stream = response.headers.get("Content-Type", "").lower().startswith(_STREAM)
        check = _StreamCheck(bounds) if is_stream else _WholeCheck(bounds, response.request.extensions[_ENDS])
        kind: Any = type(response.stream)
        response.stream = _bounded(kind)(response.stream, check)

    async def on_request_later(request: Any) -> None:
        on_request(request)

    async def on_response_later(response: Any) -> None:
        on_response(response)

    if blocking:
        return {"request": [on_request], "response": [on_response]}
    return {"request": [on_request_later], "response": [on_response_later]}


class _WholeCheck:
    """Checks an answer as it comes. Each part may come in time, a byte a minute, so the whole has a time limit, too."""

    def __init__(self, bounds: AnswerBounds, ends: float) -> None:
        self._bounds = bounds
        self._ends = ends
        self._size = self._values = 0

    def add(self, part: bytes) -> None:
        self._size += len(part)
        self._values += part.count(b",")
        if self._values > self._bounds.values:
            raise AnswerRefused(f"sent more than {self._bounds.values:,} values")
        if self._size > self._bounds.whole:
            raise AnswerRefused(f"sent more than {self._bounds.whole // _MEGABYTE} MB")
        if time.monotonic() > self._ends:
            raise AnswerRefused(f"did not end its answer within {self._bounds.seconds:g} seconds")


class _StreamCheck:
    """Checks a stream of events as it comes. Its reader limits its time."""

    def __init__(self, bounds: AnswerBounds) -> None:
        self._bounds = bounds
        self._size = self._event = 0
        self._last = b""

    def add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._bounds.stream:
            raise AnswerRefused(f"sent more than {self._bounds.stream // _MEGABYTE} MB")
        seen = self._last + part
        self._last = seen[-_LONGEST_END:]
        end = max(seen.rfind(mark) for mark in _ENDS_OF_EVENTS)
        self._event = len(seen) - end if end >= 0 else self._event + len(part)
        if self._event > self._bounds.event:
            raise AnswerRefused(f"sent an event of more than {self._bounds.event // _MEGABYTE} MB")


class _BoundedStream:
    """The bytes of an answer, each part of which is checked before it is passed on."""

    def __init__(self, stream: Any, check: _WholeCheck | _StreamCheck) -> None:
        self._stream = stream
        self._check = check

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            self._check.add(part)
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._check.add(part)
            yield part

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()


@cache
def _bounded(kind: Any) -> Any:
    """Returns `_BoundedStream` as a kind of stream: a response has only the kinds of its own library."""
    return type("BoundedStream", (_BoundedStream, kind), {})
