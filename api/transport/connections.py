"""Connections: their number is limited, and one that sends no request, or reads no response, is closed, so that file
descriptors suffice.
"""

import asyncio
import functools
import logging
import resource
import time
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from core.settings import ApiSettings

__all__ = ["make_protocol"]

_log = logging.getLogger("hopweave.api")

_OTHER_FILES = 256
"""File descriptors of a process for everything but connections: stores, indexes, models, calls of models."""
_FEWEST = 8
_PATIENCE = 1.0
"""Seconds after which a connection whose client reads nothing makes room for another one, if there are too many."""
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 21\r\n\r\ntoo many connections\n"
)


def make_protocol(settings: ApiSettings) -> Callable[..., asyncio.Protocol]:
    """Returns what makes the protocol of a connection. Raises the process' own limit of open files as far as it may."""
    most = min(settings.max_connections, max(_FEWEST, _raise_file_limit() - _OTHER_FILES))
    if most < settings.max_connections:
        _log.warning("%d connections are accepted at once: the limit of open files allows no more", most)
    return functools.partial(
        _BoundedProtocol, most=most, header_seconds=settings.header_seconds, write_seconds=settings.write_seconds
    )


def _raise_file_limit() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20


class _BoundedProtocol(H11Protocol):
    """A connection of HTTP/1.1. Of too many, the one that has been idle for the longest time is closed, or else the one
    whose client has not read for the longest time.

    If there is none, the new one is refused with a 503. A connection that has not sent the whole header of a request
    within `header_seconds` is closed, and so is one that takes nothing of a response for `write_seconds`.
    """

    def __init__(self, *, most: int, header_seconds: float, write_seconds: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._most = most
        self._header_seconds = header_seconds
        self._write_seconds = write_seconds
        self.stuck_since: float | None = None
        self._write_deadline: asyncio.TimerHandle | None = None
        self.since = time.monotonic()
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._most and not self._make_room():
            transport.write(_REFUSAL)
            transport.close()
            return
        self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._end_stuck()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_idle:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.is_idle and not self.transport.is_closing():
            self._start_waiting()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stuck_since = time.monotonic()
        self._write_deadline = self.loop.call_later(self._write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._end_stuck()
        super().resume_writing()

    def _end_stuck(self) -> None:
        self.stuck_since = None
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None

    def _start_waiting(self) -> None:
        self._stop_waiting()
        self.since = time.monotonic()
        self._deadline = self.loop.call_later(self._header_seconds, self._close_if_idle)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_if_idle(self) -> None:
        if self.is_idle:
            self.end()

    def end(self) -> None:
        """Closes an idle connection; what its client has not read by now is discarded, else it would stay open."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _make_room(self) -> bool:
        """Ends another connection if necessary. Returns False if there is none that may be ended."""
        others = [other for other in self.connections if other is not self and isinstance(other, _BoundedProtocol)]
        remaining = [other for other in others if not other.transport.is_closing()]
        if len(remaining) < self._most:
            return True
        idle = [other for other in remaining if other.is_idle]
        if idle:
            min(idle, key=lambda other: other.since).end()
            return True
        stuck = [(other.stuck_since, other) for other in remaining if other.stuck_since is not None]
        since, longest = min(stuck, key=lambda pair: pair[0], default=(time.monotonic(), None))
        if longest is None or time.monotonic() - since < _PATIENCE:
            return False
        longest.transport.abort()
        return True
