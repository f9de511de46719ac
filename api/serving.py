"""`serve`: the server process of `hopweave serve`, with a worker beside it if all data is in one folder."""

import asyncio
import logging
import signal
import socket
import sys
from datetime import UTC, datetime
from types import FrameType

import uvicorn

from api.guard import is_loopback
from api.transport.deadlines import protocol_with_deadline
from app.composition import choose_composition
from app.container import Container
from app.doctor.readiness import check_at_start
from core.errors import Conflict, InvalidInput, Unavailable
from core.keys import KeyState
from core.settings import Settings

__all__ = ["serve"]

_APP = "api.main:create_app"

_log = logging.getLogger("uvicorn.error")


def serve(settings: Settings, *, host: str, port: int, processes: int, descriptor: int | None = None) -> None:
    """Serves until SIGINT or SIGTERM.

    Without servers, a worker process runs meanwhile; with servers, workers are started separately. `descriptor` is a
    listening socket that the parent process passed on. Then this process alone serves on it and logs no requests, and
    `port` and `processes` are not used. Raises `InvalidInput` if other machines could call without a key, and
    `InvalidSettings` if a server refuses the settings, and `Conflict` if the port is in use.
    """
    if descriptor is None:
        _check_address(host.strip("[]"), port)
    _check(settings, host)
    signal.signal(signal.SIGTERM, _exit)  # uvicorn stops first, and then calls this handler
    with choose_composition(settings).supervise():
        if descriptor is not None:
            _serve_on(descriptor, settings)
            return
        uvicorn.run(
            _APP,
            factory=True,
            host=host.strip("[]"),
            port=port,
            workers=processes,
            server_header=False,
            http=protocol_with_deadline(settings.api.header_seconds),
        )


def _serve_on(descriptor: int, settings: Settings) -> None:
    # uvicorn's own `fd` takes every socket for one of the Unix domain, and so leaves Nagle's algorithm on.
    protocol = protocol_with_deadline(settings.api.header_seconds)
    config = uvicorn.Config(_APP, factory=True, access_log=False, server_header=False, http=protocol)
    with socket.socket(fileno=descriptor) as listening:
        uvicorn.Server(config).run(sockets=[listening])


def _check_address(host: str, port: int) -> None:
    """Binds the address and leaves it: uvicorn would start everything first, and then report it among its log lines."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            if family == socket.AF_INET6 and not socket.has_dualstack_ipv6():
                continue
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
    except OSError as error:
        raise Conflict(
            f"cannot listen on port {port} of {host}: {(error.strerror or str(error)).lower()}; stop what listens "
            "there, or choose another --port or --host"
        ) from error


def _check(settings: Settings, host: str) -> None:
    """Checks that other machines need a key. Builds the default searcher and reasoner once and checks the servers, so
    that wrong settings are reported now and not by the first question. A server that does not answer yet is no error.
    """

    async def check() -> None:
        container = Container(settings)
        try:
            await _check_keys(container, host)
            await check_at_start(container)
            container.reasoner(container.default_reasoner)
        finally:
            await container.close()

    asyncio.run(check())


async def _check_keys(container: Container, host: str) -> None:
    """Raises `InvalidInput` if other machines reach the server and there is no key. A record that does not answer yet
    is no error: without a key the server refuses other machines.
    """
    if is_loopback(host) or container.settings.api.keys:
        return
    try:
        keys = await container.record.keys.list() if container.composition.exists() else []
    except Unavailable:
        return
    if not any(key.state(datetime.now(UTC)) is KeyState.ACTIVE for key in keys):
        raise InvalidInput(
            f"--host {host} is reachable from other machines, and there is no key: make one with `hopweave keys "
            "create`, or set HOPWEAVE_API__KEYS (a JSON list of secrets that callers send as bearer tokens), or listen "
            "on 127.0.0.1"
        )


def _exit(_signal: int, _frame: FrameType | None) -> None:
    """Exits through the `with` blocks, so that the worker is stopped properly."""
    sys.exit(0)
