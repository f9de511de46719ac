"""How many values a body of JSON has, counted before it is parsed: each takes memory, and is a fault if it is wrong.

A value of two bytes takes a hundred in memory and, as an unknown field, fifteen microseconds of the event loop. So
bytes alone do not bound what a body costs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from core.execution.threads import compute

__all__ = ["count_values", "limit_values"]

_AT_ONCE = 200_000
"""Bytes that are counted without a thread, which takes a millisecond."""
_MOST_WAITING = 200_000_000
_ALWAYS_TAKEN = 100_000
"""Bytes of a body that are received however much is waiting: ordinary questions are not kept out by large bodies."""
_MARKS = b'",:{}[]'
_OTHERS = bytes(set(range(256)) - set(_MARKS))


class _Held:
    """The bytes that have come of one body. `add` refuses more than all bodies together may have."""

    def __init__(self, all_bodies: "_Waiting") -> None:
        self._all = all_bodies
        self.bytes = 0

    def add(self, count: int) -> None:
        self.bytes += count
        self._all.bytes += count
        if self._all.bytes > _MOST_WAITING and self.bytes > _ALWAYS_TAKEN:
            raise HTTPException(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too many large bodies are being received; send it again later",
                headers={"Connection": "close", "Retry-After": "5"},
            )


class _Waiting:
    """The bytes of all bodies of a process that have begun and not ended: a client may let each wait for long."""

    def __init__(self) -> None:
        self.bytes = 0

    @contextmanager
    def hold(self) -> Iterator[_Held]:
        held = _Held(self)
        try:
            yield held
        finally:
            self.bytes -= held.bytes


_WAITING = _Waiting()


def count_values(body: bytes, most: int) -> int:
    """Returns at least the number of values and names in a body of JSON, or a number above `most` if there are more.

    Only what is outside of strings counts. Takes time and memory in proportion to the bytes, JSON or not.
    """
    marks = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
    if marks.count(b'"') > 4 * most:
        return most + 1
    outside = b"".join(marks.split(b'"')[::2])
    return 1 + sum(outside.count(mark) for mark in (b",", b":", b"{", b"["))


def limit_values(receive: Receive, most: int) -> Receive:
    """Returns a `receive` that gives the body as a whole, and refuses it if it has more than `most` values."""
    is_read = False

    async def receive_whole() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        parts: list[bytes] = []
        more = True
        with _WAITING.hold() as held:
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return message
                parts.append(message.get("body", b""))
                held.add(len(parts[-1]))
                more = message.get("more_body", False)
        is_read = True
        body = b"".join(parts)
        parts.clear()
        count = count_values(body, most) if len(body) <= _AT_ONCE else await compute(count_values, body, most)
        if count > most:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body has more than {most:,} values and names; send less at once",
                headers={"Connection": "close"},
            )
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_whole
