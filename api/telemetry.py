"""The parts of the server that are watched: requests, connections and the event loop.

`RequestTelemetry` is the middleware that gives each request its id, and measures, logs and traces it. The lateness of
the event loop is measured, and errors of accepting connections are logged at a bounded rate.
"""

import asyncio
import errno
import logging
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.container import Container
from core.telemetry.logs import HEADER, choose_request_id, log_event, set_request_id
from core.telemetry.metrics import EVENT_LOOP_LAG, HTTP_SECONDS, SNAPSHOT_AGE, SNAPSHOT_BYTES, SNAPSHOT_MAPPED_BYTES
from core.telemetry.spans import SpanKind, span

_http_log = logging.getLogger("hopweave.http")

_NO_ROUTE = "none"
_CLIENT_CLOSED_REQUEST = 499  # as nginx calls it
_SERVER_ERROR = 500
_QUIET = frozenset({"/healthz", "/readyz", "/metrics", "/page/{hash}/{name:path}"})
"""Routes that are called all the time, and logged at DEBUG unless they fail."""
IS_STARTING = "is_starting"
"""The state of a request whose 503 says only that the server is not warm yet."""


class RequestTelemetry:
    """ASGI middleware around all others. Logs have the path of a request and never its query, which may be a question.

    A metric has the template of the route, so that paths make no new labels.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = choose_request_id(headers.get(HEADER))
        set_request_id(request_id)
        response = _Response(send, request_id)
        began = time.perf_counter()
        attributes = {
            "http.request.method": scope["method"],
            "url.path": scope["path"],
            "hopweave.request_id": request_id,
        }
        parent = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        with span(scope["method"], attributes, kind=SpanKind.SERVER, parent=parent) as begun:
            failed = True
            try:
                await self._app(scope, receive, response.send)
                failed = False
            finally:
                status = response.status or (_SERVER_ERROR if failed else _CLIENT_CLOSED_REQUEST)
                route = _route(scope)
                begun.rename(f"{scope['method']} {route}")
                begun.set({"http.route": route, "http.response.status_code": status})
                _report(scope, route, status, time.perf_counter() - began)


class _Response:
    """Adds the request's id to the response, and knows its status; 0 until it begins."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)[HEADER] = self._request_id
        await self._send(message)


def _route(scope: Scope) -> str:
    """Returns the template of the route. A request that is refused before it is routed counts under its route, too."""
    route = scope.get("route")
    if route is None and "app" in scope:
        matches = [(route.matches(scope)[0], route) for route in scope["app"].state.routes]
        route = next((match for kind in (Match.FULL, Match.PARTIAL) for found, match in matches if found is kind), None)
    return getattr(route, "path", None) or _NO_ROUTE


def _report(scope: Scope, route: str, status: int, seconds: float) -> None:
    HTTP_SECONDS.record(seconds, route=route, status=str(status))
    is_expected = status < _SERVER_ERROR or scope.get("state", {}).get(IS_STARTING, False)
    level = logging.DEBUG if route in _QUIET and is_expected else logging.INFO
    log_event(
        _http_log,
        level,
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        seconds=round(seconds, 4),
    )


_log = logging.getLogger("hopweave.api")

_TICK_SECONDS = 0.02
_SNAPSHOT_SECONDS = 5.0
_LOG_SECONDS = 10.0
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


async def measure_event_loop() -> None:
    """Measures forever by how much a timer is late, which is how long something else blocked the event loop."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(_TICK_SECONDS)
        EVENT_LOOP_LAG.record(max(0.0, time.perf_counter() - began - _TICK_SECONDS))


async def measure_snapshots(container: Container) -> None:
    """Measures forever the snapshots in the memory of this process."""
    while True:
        held = container.snapshots.describe()
        SNAPSHOT_BYTES.record(held.bytes)
        SNAPSHOT_MAPPED_BYTES.record(held.mapped_bytes)
        SNAPSHOT_AGE.record(held.age_seconds)
        await asyncio.sleep(_SNAPSHOT_SECONDS)


def limit_accept_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Logs that no connection can be accepted at most every ten seconds, with a count.

    Without file descriptors asyncio reports an error with a traceback for each place of the backlog, each second.
    """
    loop.set_exception_handler(_AcceptErrors())


class _AcceptErrors:
    """The exception handler of an event loop."""

    def __init__(self) -> None:
        self._count = 0
        self._logged_at = -_LOG_SECONDS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED or "socket" not in context:
            loop.default_exception_handler(context)
            return
        self._count += 1
        if time.monotonic() - self._logged_at >= _LOG_SECONDS:
            self._logged_at = time.monotonic()
            _log.error(
                "cannot accept connections: %s (%d times); raise the limit of open files (ulimit -n), or lower "
                "HOPWEAVE_API__MAX_CONNECTIONS",
                (error.strerror or "no resources").lower(),
                self._count,
            )
            self._count = 0
