"""Server-sent events of `POST …/ask` as values."""

from collections.abc import Iterator

import httpx

from hopweave._errors import problem
from hopweave._steps import decode
from hopweave._values.events import EVENTS, Event

__all__ = ["EventReader"]

_ANSWER, _ERROR = "answer", "error"


class EventReader:
    """Takes the stream's bytes in pieces of any size and returns the events that are complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._kind = ""
        self._data: list[bytes] = []
        self._has_answer = False

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Yields the events that end in this piece; of kinds that this version does not know, none.

        Raises `ProblemError` for an `error` event.
        """
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            name, _, value = line.rstrip(b"\r").partition(b":")
            if name == b"event":
                self._kind = value.strip().decode()
            elif name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line.strip() and self._data:
                yield from self._event()

    def check_end(self) -> None:
        """Raises `httpx.RemoteProtocolError` if the stream has ended before its last event."""
        if not self._has_answer:
            raise httpx.RemoteProtocolError("the stream of events ended before the answer")

    def _event(self) -> Iterator[Event]:
        kind, data = self._kind, b"\n".join(self._data)
        self._kind, self._data = "", []
        if kind == _ERROR:
            raise problem(data)
        self._has_answer = self._has_answer or kind == _ANSWER
        if kind in EVENTS:
            yield decode(EVENTS[kind], data)
