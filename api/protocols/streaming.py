"""`stream_reply`: a reply that is sent while it is written, in the form of a protocol."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Protocol

from fastapi import Request
from starlette.responses import StreamingResponse

from api.protocols.reply import Reply, find_rest
from api.streams.work_stream import Put, stream_work

__all__ = ["OnText", "Wire", "stream_reply"]

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

    `work` is called with what takes the pieces of its text. Errors are raised or sent as `stream_work` says.
    """
    text = _Text(wire, stops)
    return await stream_work(request, lambda put: work(lambda piece: text.send(piece, put)), text)


class _Text:
    """The text of a reply while it is sent (a `StreamForm`). `_sent` is what was sent, `_held` what is held back."""

    def __init__(self, wire: Wire, stops: Sequence[str]) -> None:
        self._wire = wire
        self._stops = stops
        self._held = ""
        self._sent = ""
        self._stopped = False
        self.media_type = wire.media_type
        self.begin = wire.begin
        self.send_error = wire.send_error

    @property
    def ping(self) -> bytes:
        return self._wire.ping

    def send(self, piece: str, put: Put) -> None:
        """Puts a piece, up to the first stop. What may be the beginning of a stop is held back."""
        if self._stopped:
            return
        self._held += piece if self._sent or self._held else piece.lstrip()
        ends = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        self._stopped = bool(ends)
        ready = self._held[: min(ends)] if ends else self._held[: _find_open_stop(self._held, self._stops)]
        self._held = self._held[len(ready) :]
        if ready:
            self._sent += ready
            put(self._wire.send_text(ready))

    def end(self, made: Reply) -> Iterator[bytes]:
        rest, offset = find_rest(self._sent, made.text)
        if rest:
            yield self._wire.send_text(rest)
        yield from self._wire.end(made, offset)


def _find_open_stop(text: str, stops: Sequence[str]) -> int:
    """Returns where the stop begins that the end of the text may belong to; the length of the text if none does."""
    longest = max((len(stop) for stop in stops), default=1)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        if any(stop.startswith(text[start:]) for stop in stops):
            return start
    return len(text)
