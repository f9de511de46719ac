"""`Shield`: the middleware around all but the measuring: headers of security, and answers to unforeseen errors."""

import logging

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import unforeseen
from core.faults import describe_bug
from core.telemetry.logs import log_event

_log = logging.getLogger("hopweave.api")

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers that every response gets unless it has its own: no browser runs, frames, guesses or keeps what is sent."""


class Shield:
    """ASGI middleware. An error that no handler knows is logged by its kind and place, without its text, and is not
    raised on: the server would log its text and the lines of code.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_shielded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_shielded)
        except Exception as error:  # noqa: BLE001 - the last place that can answer
            log_event(
                _log,
                logging.ERROR,
                "a request failed",
                method=scope["method"],
                route=_path(scope),
                error=describe_bug(error),
            )
            if not started:  # else the server closes the connection, and so the client sees that the rest is missing
                await unforeseen(scope["path"])(scope, receive, send_shielded)


def _path(scope: Scope) -> str:
    """Returns the template of the route, such as `/v1/corpora/{corpus}`: paths hold keys of documents and names."""
    return getattr(scope.get("route"), "path", "an unknown path")
