"""Server-sent events of `POST …/ask` as values."""

from collections.abc import Iterator

from hopweave._errors import problem
from hopweave._steps import decode
from hopweave._values.events import EVENTS, Event

__all__ = ["EventReader"]

_ERROR = "error"


class EventReader:
    """Takes the stream's bytes in pieces of any size and returns the events that are complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._kind = ""
        self._data: list[bytes] = []

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

    def _event(self) -> Iterator[Event]:
        kind, data = self._kind, b"\n".join(self._data)
        self._kind, self._data = "", []
        if kind == _ERROR:
            raise problem(data)
        if kind in EVENTS:
            yield decode(EVENTS[kind], data)
