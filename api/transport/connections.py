"""Connections: their number is limited, and one that sends no request is closed, so that file descriptors suffice."""

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
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 21\r\n\r\ntoo many connections\n"
)


def make_protocol(settings: ApiSettings) -> Callable[..., asyncio.Protocol]:
    """Returns what makes the protocol of a connection. Raises the process' own limit of open files as far as it may."""
    most = min(settings.max_connections, max(_FEWEST, _raise_file_limit() - _OTHER_FILES))
    if most < settings.max_connections:
        _log.warning("%d connections are accepted at once: the limit of open files allows no more", most)
    return functools.partial(_BoundedProtocol, most=most, header_seconds=settings.header_seconds)


def _raise_file_limit() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20


class _BoundedProtocol(H11Protocol):
    """A connection of HTTP/1.1. Of too many, the one that has been idle for the longest time is closed.

    If none is idle, the new one is refused with a 503. A connection that has not sent the whole header of a request
    within `header_seconds` is closed.
    """

    def __init__(self, *, most: int, header_seconds: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._most = most
        self._header_seconds = header_seconds
        self._since = time.monotonic()
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._most and not self._close_idlest():
            transport.write(_REFUSAL)
            transport.close()
            return
        self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_idle:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.is_idle and not self.transport.is_closing():
            self._start_waiting()

    def _start_waiting(self) -> None:
        self._stop_waiting()
        self._since = time.monotonic()
        self._deadline = self.loop.call_later(self._header_seconds, self._close_if_idle)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_if_idle(self) -> None:
        if self.is_idle:
            self.transport.close()

    def _close_idlest(self) -> bool:
        others = [one for one in self.connections if one is not self and isinstance(one, _BoundedProtocol)]
        idle = [one for one in others if one.is_idle and not one.transport.is_closing()]
        if not idle:
            return False
        min(idle, key=lambda one: one._since).transport.close()  # noqa: SLF001 - of the same class
        return True
