"""`serve`: the server process of `hopweave serve`, with a worker beside it if all data is in one folder."""

import asyncio
import contextlib
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, cast
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from api.guard import is_loopback
from api.transport.connections import ListeningSocket, SharedAddress, bind_all, can_share, make_protocol
from app.composition import choose_composition
from app.container import Container
from app.doctor.readiness import check_at_start
from app.supervision.supervision import Supervision
from app.telemetry.logs import configure_logs, log_to_file
from app.telemetry.opentelemetry import start_traces
from app.telemetry.prometheus import shared_metrics, start_metrics
from core.errors import Conflict, InvalidInput, Unavailable
from core.execution.processes import favour_event_loop, share_cores
from core.keys import KeyState
from core.settings import Settings, read_settings

_NOT_STARTED = 3  # as uvicorn's own command ends
_ACCEPTED_AT_ONCE = 64
"""Connections that are accepted in a round of the event loop, before any of them is counted."""
_START_SECONDS = 30
"""How long a process of several may take to begin. On a busy machine its imports take more than uvicorn's five seconds,
after which it would be killed and started again, without end."""
_HEADER_BYTES = 64 * 1024
"""The largest request line with its headers: 4,000 characters of Chinese in a query take 36 kB."""


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    processes: int,
    opens: bool = False,
    descriptor: int | None = None,
    log: Path | None = None,
) -> None:
    """Serves until SIGINT or SIGTERM. With `opens`, opens the web page in the browser of this user.

    Without servers, a worker process runs meanwhile; with servers, workers are started separately. `descriptor` is a
    listening socket that the parent process passed on. Then this process alone serves on it and logs no requests, into
    the file `log`, and `port` and `processes` are not used. Raises `InvalidInput` if other machines could call without
    a key, and `InvalidSettings` if a server refuses the settings, and `Conflict` if the port is in use.
    """
    if descriptor is None:
        _check_address(host.strip("[]"), port)
    configure_logs(settings.log)
    _check(settings, host)
    signal.signal(signal.SIGTERM, _exit)  # uvicorn stops first, and then calls this handler
    with shared_metrics(), choose_composition(settings).supervise() as workers:
        if descriptor is not None:
            _serve_on(settings, workers, descriptor, log)
        else:
            announce_page(_describe_address(host.strip("[]"), port), settings.api.public_url, opens=opens)
            _serve_at(settings, workers, host.strip("[]"), port, processes)


def make_app(environment: Mapping[str, str], address: str, log: Path | None) -> FastAPI:
    """Returns the application of a server process, which is watched. uvicorn calls it in each of its processes.

    `environment` is for the processes that answer. The worker, which is started from the parent's, does not have it.
    `address` is where this machine reaches the server. The log goes to the file `log`, or to standard error.
    """
    from api.main import create_app

    os.environ.update(environment)
    favour_event_loop()
    settings = read_settings()
    if not settings.on_servers:
        os.umask(0o077)  # what it writes lies in the data folder of this user
    if log is None:
        configure_logs(settings.log)
    else:
        log_to_file(settings.log, log)
    start_traces("hopweave")
    app = create_app(settings, meter=start_metrics(settings.metrics))
    app.state.address = address
    return app


def _configure(
    settings: Settings, address: str, processes: int = 1, log: Path | None = None, **options: Any
) -> uvicorn.Config:
    return uvicorn.Config(
        partial(make_app, share_cores(processes), address, log),
        workers=processes,
        factory=True,
        http=cast("type[asyncio.Protocol]", make_protocol(settings.api)),
        log_config=None,
        proxy_headers=bool(settings.api.proxies),  # else any program of this machine could claim another address
        forwarded_allow_ips=settings.api.proxies,
        access_log=False,
        server_header=False,
        backlog=_ACCEPTED_AT_ONCE,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        # Longer than clients keep idle connections (httpx: 5 s): else a request may meet a connection that is closed.
        timeout_keep_alive=math.ceil(settings.api.header_seconds),
        timeout_graceful_shutdown=settings.api.drain_seconds,
        timeout_worker_healthcheck=_START_SECONDS,
        **options,
    )


def _serve_on(settings: Settings, workers: Supervision, descriptor: int, log: Path | None) -> None:
    logging.getLogger("hopweave.http").setLevel(logging.WARNING)  # the parent process knows its requests
    # uvicorn's own `fd` treats every socket as a Unix socket, and so leaves Nagle's algorithm on.
    with ListeningSocket(fileno=descriptor) as listening:
        address = _describe_address(*listening.getsockname()[:2])
        _Server(_configure(settings, address, log=log), workers, settings.api.drain_seconds).run(sockets=[listening])


def _serve_at(settings: Settings, workers: Supervision, host: str, port: int, processes: int) -> None:
    config = _configure(settings, _describe_address(host, port), processes, host=host, port=port)
    if processes > 1:
        _Processes(config, [_bind(config)], workers, settings.api.drain_seconds).run()
        return
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    server = _Server(config, workers, settings.api.drain_seconds, url)
    with contextlib.suppress(KeyboardInterrupt):  # raised again after the server has ended by it
        server.run(sockets=_bind_address(host, port))
    if not server.started:
        sys.exit(_NOT_STARTED)


class _Server(uvicorn.Server):
    """A server that asks the worker to end as soon as it is told to end itself, so that both end at the same time."""

    def __init__(self, config: uvicorn.Config, workers: Supervision, drain_seconds: float, address: str = "") -> None:
        """`address` is logged when the server runs: uvicorn takes sockets that it was given for somebody else's."""
        super().__init__(config)
        self._begin_stop = partial(workers.begin_stop, drain_seconds)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._address:
            _log_address(self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._begin_stop()
        await super().shutdown(sockets)


class _Processes(Multiprocess):
    """Server processes that end as `_Server` does."""

    def __init__(
        self, config: uvicorn.Config, sockets: list[socket.socket], workers: Supervision, drain_seconds: float
    ) -> None:
        super().__init__(config, sockets)
        self._begin_stop = partial(workers.begin_stop, drain_seconds)

    def terminate_all(self) -> None:
        self._begin_stop()
        super().terminate_all()


def _describe_address(host: str, port: int) -> str:
    """Returns the address at which this machine reaches the server."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - it is not listened on here
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _check_address(host: str, port: int) -> None:
    """Binds the address and leaves it: uvicorn would start everything first, and then report it among its log lines."""
    for bound in _bind_address(host, port):
        bound.close()


def _bind_address(host: str, port: int) -> list[socket.socket]:
    """Raises `Conflict` if the address cannot be bound."""
    try:
        return list(bind_all(host, port))
    except OSError as error:
        raise Conflict(
            f"cannot listen on port {port} of {host}: {(error.strerror or str(error)).lower()}; stop what listens "
            "there, or choose another --port or --host"
        ) from error


def _bind(config: uvicorn.Config) -> socket.socket:
    if not can_share():
        return config.bind_socket()
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    bound = SharedAddress.bind_to(family, (config.host, config.port))
    host = f"[{config.host}]" if family == socket.AF_INET6 else config.host
    _log_address(f"http://{host}:{config.port}")
    return bound


def _log_address(address: str) -> None:
    logging.getLogger("uvicorn.error").info("Uvicorn running on %s", address)


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
    own = container.settings.api.keys  # an empty key, as from an unset variable, is no key
    accepts_tokens = bool(container.settings.oidc.issuer)
    if accepts_tokens or is_loopback(host) or any(key.get_secret_value().strip() for key in own):
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


_LOOK_SECONDS = 0.1
_CONNECT_SECONDS = 1.0


def announce_page(address: str, public_url: str, *, opens: bool) -> None:
    """Waits in the background until the server listens. Then writes a line to standard error, if that is a terminal,
    and with `opens` opens the page in the browser of this user.
    """
    if opens or sys.stderr.isatty():
        threading.Thread(target=_announce, args=(address, public_url, opens), daemon=True).start()


def _announce(address: str, public_url: str, opens: bool) -> None:
    while not _listens(address):
        time.sleep(_LOOK_SECONDS)
    if sys.stderr.isatty():
        also = f", for users at {public_url}" if public_url else ""
        _write(f"The web page is at {address}{also}. Ctrl-C stops the server.")
    if opens and not webbrowser.open(address):
        _write(f"no browser can be opened here; open {address} yourself")


def _listens(address: str) -> bool:
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
