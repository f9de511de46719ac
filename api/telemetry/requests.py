"""`RequestTelemetry`: the middleware that gives each request its id, and measures, logs and traces it."""

import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.telemetry.log_events import log_event
from core.telemetry.metrics import HTTP_SECONDS
from core.telemetry.request_ids import HEADER, choose_request_id, set_request_id
from core.telemetry.spans import SpanKind, span

__all__ = ["IS_STARTING", "RequestTelemetry"]

_log = logging.getLogger("hopweave.http")

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
        matches = [(one.matches(scope)[0], one) for one in scope["app"].state.routes]
        route = next((one for kind in (Match.FULL, Match.PARTIAL) for found, one in matches if found is kind), None)
    return getattr(route, "path", None) or _NO_ROUTE


def _report(scope: Scope, route: str, status: int, seconds: float) -> None:
    HTTP_SECONDS.record(seconds, route=route, status=str(status))
    is_expected = status < _SERVER_ERROR or scope.get("state", {}).get(IS_STARTING, False)
    level = logging.DEBUG if route in _QUIET and is_expected else logging.INFO
    log_event(
        _log,
        level,
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        seconds=round(seconds, 4),
    )
