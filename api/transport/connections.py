"""Connections: their number is limited, and a connection that sends no request, or reads no response, is closed.

First come the sockets on which processes listen. Several processes may share an address, each with a socket of its own.
"""

import asyncio
import logging
import math
import resource
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.access.limits import network_of
from api.transport.turns import HEALTH
from core.settings import ApiSettings

_WAITING = 4096
"""Connections that may wait to be accepted, unless the system allows fewer. A client that finds no place among them
tries again after a second.
"""


def can_share() -> bool:
    """Whether this system divides connections among sockets of one address. Other systems give all to one."""
    return sys.platform == "linux"


class ListeningSocket(socket.socket):
    """A socket on which more connections may wait than are accepted in a round of the event loop: asyncio has one
    number for both.
    """

    def listen(self, backlog: int = _WAITING, /) -> None:
        super().listen(max(backlog, _WAITING))


def bind_all(host: str, port: int) -> list[ListeningSocket]:
    """Returns a socket for each address of a host, bound as asyncio binds its own. Raises `OSError` if it cannot be."""
    made: list[ListeningSocket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            if family == socket.AF_INET6 and not socket.has_dualstack_ipv6():
                continue
            bound = ListeningSocket(family, kind, protocol)
            made.append(bound)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            bound.bind(address)
    except OSError:
        for one in made:
            one.close()
        raise
    return made


class SharedAddress(ListeningSocket):
    """A bound socket that reserves an address. Sent to another process, it becomes another socket of this address.

    Only processes of the same user can bind the address, too. A process that ends takes its socket with it, so no
    connection waits for it.
    """

    @classmethod
    def bind_to(cls, family: int, address: Any) -> "SharedAddress":
        """Raises `OSError` if the address is in use."""
        # asyncio turns Nagle's algorithm off for connections whose protocol is known: else responses wait 40 ms.
        made = cls(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            made.bind(address)
        except OSError:
            made.close()
            raise
        return made

    def __reduce__(self) -> Any:
        return SharedAddress.bind_to, (int(self.family), self.getsockname())


_log = logging.getLogger("hopweave.api")

_OTHER_FILES = 256
"""File descriptors of a process for everything but connections: stores, indexes, models, calls of models."""
_FEWEST = 8
_RESERVE = 16
"""Connections beyond the limit, on which only health checks are answered."""
_PATIENCE = 1.0
"""Seconds after which a connection whose client reads nothing makes room for another, if there are too many."""
_UNSENT_BYTES = 131_072
"""What the system holds of a response beyond what is on its way. Else it takes megabytes of a stream whose client reads
slowly, and nothing can keep them back any more.
"""
_NO_LINGER = struct.pack("ii", 1, 0)
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 21\r\n\r\ntoo many connections\n"
)


def make_protocol(settings: ApiSettings) -> Callable[..., asyncio.Protocol]:
    """Returns the factory of connections' protocols. Raises the process' own limit of open files as far as it may."""
    most = min(settings.max_connections, max(_FEWEST, _raise_file_limit() - _OTHER_FILES))
    if most < settings.max_connections:
        _log.warning("%d connections are accepted at once: the limit of open files allows no more", most)
    return partial(
        _BoundedProtocol,
        bounds=_Bounds(
            all=most,
            of_address=min(most, settings.max_connections_of_address),
            proxies=tuple(map(ip_network, settings.proxies)),
            header_seconds=settings.header_seconds,
            write_seconds=settings.write_seconds,
        ),
    )


def _raise_file_limit() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard if hard != resource.RLIM_INFINITY else 1 << 20


@dataclass(frozen=True, kw_only=True)
class _Bounds:
    all: int
    of_address: int
    proxies: Sequence[IPv4Network | IPv6Network]
    header_seconds: float
    write_seconds: float

    def is_proxy(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:  # the name of a socket
            return False
        return any(found in network for network in self.proxies)


class _BoundedProtocol(H11Protocol):
    """A connection of HTTP/1.1. If there are too many, in all or of one address, the connection that has been idle
    longest is closed, or else the connection whose client has not read for longest.

    If no connection can be closed, the new connection joins a small reserve, which answers health checks, and anything
    else with a 503; if the reserve is full, the new connection is refused. A connection that has not sent the whole
    header of a request within `header_seconds` is closed, and so is a connection whose response waits and of which the
    system takes nothing for `write_seconds`, or whose response is broken off. A client that reads slowly keeps its
    connection: on Linux the system takes some of a response whenever the client has read 64 to 128 kB.
    """

    def __init__(self, *, bounds: _Bounds, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.app = partial(self._run, self.app)
        self._bounds = bounds
        self.network = ""
        self.is_reserve = False
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
        address = self.client[0] if self.client else ""
        _hold_little(transport.get_extra_info("socket"))
        self.network = "" if self._bounds.is_proxy(address) else network_of(address)
        if not self._has_room():
            transport.write(_REFUSAL)
            transport.close()
            return
        self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._end_stuck()
        super().connection_lost(exc)

    async def _run(self, app: Any, scope: Scope, receive: Receive, send: Send) -> None:
        cycle = self.cycle  # later, `self.cycle` may be the next request of the connection
        try:
            await app(scope, receive, send)
        finally:
            if cycle.response_started and not cycle.response_complete and not self.transport.is_closing():
                self._reset()

    def _reset(self) -> None:
        """Discards what the client has not been sent of a response that is broken off, also what the system holds: the
        reason may be that the client must not have it.
        """
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.transport.abort()

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
        self._set_write_deadline()

    def resume_writing(self) -> None:
        self._end_stuck()
        super().resume_writing()

    def _set_write_deadline(self) -> None:
        held = self.transport.get_write_buffer_size()
        self._write_deadline = self.loop.call_later(self._bounds.write_seconds, self._abort_if_stuck, held)

    def _abort_if_stuck(self, held: int) -> None:
        """Aborts if as many bytes wait as at the last look. Writing is resumed when nearly all of a write is taken,
        which may take minutes for a large body that is written at once.
        """
        if self.transport.get_write_buffer_size() < held:
            self._set_write_deadline()
        else:
            self.transport.abort()

    def _end_stuck(self) -> None:
        self.stuck_since = None
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None

    def _start_waiting(self) -> None:
        self._stop_waiting()
        self.since = time.monotonic()
        self._deadline = self.loop.call_later(self._bounds.header_seconds, self._close_if_idle)

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

    def _has_room(self) -> bool:
        """Ends another connection if necessary. Returns False if this connection may not be answered.

        This connection joins the reserve if there are too many connections, and none may be ended.
        """
        if len(self.connections) <= min(self._bounds.all, self._bounds.of_address):
            return True
        others: list[_BoundedProtocol] = [one for one in self.connections if one is not self]  # type: ignore[misc]
        of_address = [one for one in others if self.network and one.network == self.network]
        for among, most in ((of_address, self._bounds.of_address), (others, self._bounds.all)):
            if len(among) < most:
                continue
            open_ones = [one for one in among if not one.transport.is_closing()]
            if len(open_ones) >= most and not self._end_one(open_ones):
                return self._join_reserve(others)
        return True

    def _join_reserve(self, others: "Sequence[_BoundedProtocol]") -> bool:
        """Returns False if the reserve is full. A connection of the reserve gets only health checks answered."""
        reserved = [other for other in others if other.is_reserve and not other.transport.is_closing()]
        self.is_reserve = len(reserved) < _RESERVE
        if self.is_reserve:
            self.app = partial(_tell_health, self.app)
        return self.is_reserve

    @staticmethod
    def _end_one(remaining: "Sequence[_BoundedProtocol]") -> bool:
        """Ends the least valuable connection. Returns False if none may be ended."""
        worst, at = None, (1, time.monotonic() - _PATIENCE)
        for other in remaining:
            since = (0, other.since) if other.is_idle else (1, other.stuck_since or math.inf)
            if since < at:
                worst, at = other, since
        if worst is None:
            return False
        if worst.is_idle:
            worst.end()
        else:
            worst.transport.abort()
        return True


def _hold_little(connection: socket.socket) -> None:
    if sys.platform == "linux" and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)


async def _tell_health(app: Any, scope: Scope, receive: Receive, send: Send) -> None:
    """Answers on a connection of the reserve, which ends then."""

    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    if scope["type"] == "http" and scope["path"] in HEALTH:
        await app(scope, receive, send_and_close)
    else:
        refused = PlainTextResponse("too many connections\n", HTTPStatus.SERVICE_UNAVAILABLE, {"Retry-After": "1"})
        await refused(scope, receive, send_and_close)
