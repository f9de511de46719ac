"""`McpEndpoint`: MCP over streamable HTTP at `/mcp`. It starts with the first request, and imports the SDK only then.

No state of a client is kept: any process of the server answers any request, also after a restart. A client that opens a
session gets an id for one reason: the id, with the number of a request, names the call that it may cancel later.
`RunningCalls` are the calls that run in this process.
"""

import asyncio
import json
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access.keys import caller_of
from api.problems import problem
from core.settings import Settings

if TYPE_CHECKING:
    import anyio


CallName = tuple[str, str, str]
"""The id of the caller's key, the id of the session, and the number of the request in it.

Clients choose the numbers, so they mean something only within a session, whose id is random.
"""


class RunningCalls:
    """Cancel scopes by name."""

    def __init__(self) -> None:
        self._scopes: dict[CallName, anyio.CancelScope] = {}

    def begin(self, name: CallName, scope: "anyio.CancelScope") -> None:
        self._scopes[name] = scope

    def end(self, name: CallName) -> None:
        self._scopes.pop(name, None)

    def cancel(self, name: CallName) -> None:
        """Cancels a call. An unknown call has ended, or runs in another process."""
        if (scope := self._scopes.get(name)) is not None:
            scope.cancel()


PATH = "/mcp"

_SESSION = "Mcp-Session-Id"
_SHORT = 16_000
"""Bytes of a body that is looked into before the SDK gets it. Relevant messages are shorter."""


class McpEndpoint:
    """An ASGI application, behind `Guard`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._calls = RunningCalls()
        self._serving: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "DELETE":  # the end of a session, of which nothing is kept
            await Response(status_code=HTTPStatus.NO_CONTENT)(scope, receive, send)
            return
        if scope["method"] != "POST":
            detail = "MCP is spoken here by POST alone; this server opens no stream of its own"
            refused = problem(
                HTTPStatus.METHOD_NOT_ALLOWED, detail, instance=scope["path"], headers={"Allow": "POST, DELETE"}
            )
            await refused(scope, receive, send)
            return
        message, receive = await _peek(scope, receive)
        if message.get("method") == "notifications/cancelled" and self._cancel(scope, message):
            await Response(status_code=HTTPStatus.ACCEPTED)(scope, receive, send)
            return
        serve = await self._start()
        await serve(scope, receive, _opening_session(send) if message.get("method") == "initialize" else send)

    async def close(self) -> None:
        """Ends what runs."""
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
            self._serving = self._ready = None

    def _cancel(self, scope: Scope, message: dict[str, Any]) -> bool:
        """Cancels the call that a notification names. Returns False for a notification without a session."""
        session = Headers(scope=scope).get(_SESSION)
        named = message.get("params")
        if session is None or not isinstance(named, dict):
            return False
        self._calls.cancel((caller_of(scope).id, session, str(named.get("requestId"))))
        return True

    async def _start(self) -> ASGIApp:
        """Returns the SDK's application, once it runs. Raises what kept it from that."""
        if self._serving is None or self._ready is None or self._serving.done():
            self._ready = asyncio.get_running_loop().create_future()
            self._serving = asyncio.create_task(self._serve(self._ready), name="serving MCP")
        ready, serving = self._ready, self._serving
        both: set[asyncio.Future[Any]] = {ready, serving}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            serving.result()
        return ready.result()

    async def _serve(self, ready: "asyncio.Future[ASGIApp]") -> None:
        module = await asyncio.to_thread(_import_server)
        await module.serve_http(self._settings, self._calls, ready.set_result)


def _import_server() -> Any:
    """Imports the SDK, which takes about a second."""
    from api.mcp import server

    return server


async def _peek(scope: Scope, receive: Receive) -> tuple[dict[str, Any], Receive]:
    """Returns the message in a short body, or {}; and a `receive` that returns the body again."""
    length = Headers(scope=scope).get("content-length", "")
    if not length.isdecimal() or int(length[:20]) > _SHORT:
        return {}, receive
    read = list[Message]()
    while not read or (read[-1]["type"] == "http.request" and read[-1].get("more_body", False)):
        read.append(await receive())
    body = b"".join(message.get("body", b"") for message in read)
    waiting = iter(read)

    async def receive_again() -> Message:
        return next(waiting, None) or await receive()

    try:
        message = json.loads(body)
    except (ValueError, RecursionError):  # the SDK says so in the form of the protocol
        message = None
    return message if isinstance(message, dict) else {}, receive_again


def _opening_session(send: Send) -> Send:
    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
            MutableHeaders(scope=message)[_SESSION] = secrets.token_hex(16)
        await send(message)

    return send_with_id
