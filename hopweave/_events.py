"""Server-sent events as values: of `POST …/ask`, and of jobs."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from hopweave._errors import problem
from hopweave._steps import decode

__all__ = ["EventReader"]

_ERROR = "error"


class EventReader:
    """Takes the stream's bytes in pieces of any size and returns the events that are complete.

    `kinds` are the types of the values by the event's name; `last` is the event that ends the stream. `last_id` is the
    id of the newest event, with which a broken stream is continued.
    """

    def __init__(self, kinds: Mapping[str, type[Any]], last: str) -> None:
        self._kinds = kinds
        self._last = last
        self._has_ended = False
        self.last_id = ""
        self.restart()

    def restart(self) -> None:
        """Drops an event of which only a part has come: another stream begins."""
        self._rest = b""
        self._kind = self._id = ""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[Any]:
        """Yields the events that end in this piece, except kinds that this version does not know.

        Raises `ProblemError` for an `error` event.
        """
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            name, _, value = line.rstrip(b"\r").partition(b":")
            if name == b"event":
                self._kind = value.strip().decode()
            elif name == b"id":
                self._id = value.strip().decode()
            elif name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line.strip() and self._data:
                yield from self._event()

    def check_end(self) -> None:
        """Raises `httpx.RemoteProtocolError` if the stream has ended before its last event."""
        if not self._has_ended:
            raise httpx.RemoteProtocolError("the stream of events ended before its last event")

    def _event(self) -> Iterator[Any]:
        kind, data = self._kind, b"\n".join(self._data)
        self.last_id = self._id or self.last_id
        self._kind, self._id, self._data = "", "", []
        if kind == _ERROR:
            raise problem(data)
        self._has_ended = self._has_ended or kind == self._last
        if kind in self._kinds:
            yield decode(self._kinds[kind], data)
