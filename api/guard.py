"""`Guard`: the middleware that checks, before any route, who calls, from where, and with what kind of body."""

import asyncio
import contextlib
import ipaddress
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access.keys import KEYLESS, NO_KEY, Caller, Keyring, is_open, is_view, set_caller
from api.access.limits import Attempts, CallerStream, Ledger
from api.access.sessions import Sessions
from api.access.tokens import Tokens, is_own_host, locate_metadata
from api.page.responses import show_sign_in
from api.problems import problem, problem_of
from api.transport.bodies import BodyLimit, BodyLimits, has_body, limit_body, refuse_type
from app.supervision.folder_socket import ADDRESS_HEADER, SETTINGS_HEADER, fingerprint_settings, listen_in_folder
from core.errors import HopweaveError
from core.execution.limits import set_current_caller
from core.keys import KeyUsage
from core.settings import ApiSettings, Settings

_OWN_SITE = frozenset({"same-origin", "none"})
_READING = frozenset({"GET", "HEAD"})
_METADATA = "resource_metadata"


class Guard:
    """ASGI middleware. With keys, a request needs a key. Without keys, only requests of this machine are served, and
    none of a foreign web page.

    A web page can send requests to its visitor's own machine. So without keys, `Host` must name this server (a rebound
    DNS name does not), and `Origin` and `Sec-Fetch-Site` must not be foreign. Bodies need a content type that a form
    cannot send, except for uploads of files: browsers name the origin of a form in `Origin`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ApiSettings,
        keyring: Keyring,
        attempts: Attempts,
        sessions: Sessions,
        ledger: Ledger,
        tokens: Tokens | None = None,
    ) -> None:
        self._app = app
        self._settings = settings
        self._keyring = keyring
        self._attempts = attempts
        self._sessions = sessions
        self._ledger = ledger
        self._tokens = tokens
        self._origins = frozenset(settings.cors_origins) - {"*"}
        self._limit_of = BodyLimits(settings)
        self._streams: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limit_of(scope, headers)
        more = {"Connection": "close"} if has_body(headers) else {}
        try:
            caller = await self._identify(scope, headers)
            if isinstance(caller, Caller):
                if (refusal := _refuse_body(scope, headers, limit)) is None:
                    await self._ledger.admit(caller, KeyUsage(requests=1))
                    set_caller(scope, caller)
                    set_current_caller(caller.id)
                    await self._call(scope, receive, send, caller, limit)
                    return
            else:
                refusal = caller
        except HopweaveError as error:
            response = problem_of(error, scope["path"])
            response.headers.update(more)
            await response(scope, receive, send)
            return
        if self._tokens is not None and refusal[0] is HTTPStatus.UNAUTHORIZED:
            metadata = locate_metadata(Request(scope), self._settings)
            more |= {_METADATA: metadata} if metadata else {}
        await _refuse(scope, headers, *refusal, more)(scope, receive, send)

    async def _call(self, scope: Scope, receive: Receive, send: Send, caller: Caller, limit: BodyLimit) -> None:
        streaming = CallerStream(self._streams, caller, self._settings.max_streams, send, self._keyring)
        await streaming.run(self._app(scope, limit_body(receive, limit, self._settings), streaming.send))
        if streaming.refused:
            await streaming.refuse(scope, receive)

    async def _identify(self, scope: Scope, headers: Headers) -> Caller | tuple[HTTPStatus, str]:
        """Returns the caller, or the status and the reason of a refusal."""
        if is_from_folder(scope):
            return KEYLESS  # whoever may use that socket may write the data folder
        is_free = is_open(scope["method"], scope["path"])
        if is_free:
            self._keyring.refresh_soon()  # health is told also while the record does not answer
        else:
            await self._keyring.refresh()
        if self._keyring.needs_key:
            return KEYLESS if is_free else await self._find_holder(scope, headers)
        why = self._refuse_foreign(scope, headers)
        return KEYLESS if why is None else (HTTPStatus.FORBIDDEN, why)

    async def _find_holder(self, scope: Scope, headers: Headers) -> Caller | tuple[HTTPStatus, str]:
        """Returns the holder of the key of a request, or else of its session."""
        if "authorization" not in headers and (found := await self._sessions.find(scope, headers)) is not None:
            return found
        if not (key := _shown_key(headers)):
            return HTTPStatus.UNAUTHORIZED, NO_KEY
        address = client[0] if (client := scope.get("client")) else ""
        if self._tokens is not None and self._tokens.is_token(key):
            shown = await self._tokens.find(key)
        else:
            shown = self._keyring.find(key)
        holder = self._attempts.judge(address, shown, guessable=self._keyring.is_guessable(key))
        return (HTTPStatus.UNAUTHORIZED, holder) if isinstance(holder, str) else holder

    def _refuse_foreign(self, scope: Scope, headers: Headers) -> str | None:
        """Returns why the request does not come from this machine; None if it does."""
        client = scope.get("client")
        if client is not None and not is_loopback(client[0]):
            return "without a key (`hopweave keys create`, HOPWEAVE_API__KEYS) this server answers only its own machine"
        host = headers.get("host", "")
        if not is_own_host(host, self._settings):
            return f"host {host[:255]!r} is not one of this server's; add it to HOPWEAVE_API__HOSTS"
        origin = headers.get("origin")
        if origin is not None and origin.lower() in self._origins:
            return None
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return f"origin {origin[:255]!r} is foreign; use a key, or a page of this server"
        if headers.get("sec-fetch-site", "none") not in _OWN_SITE and not _follows_link(scope, headers):
            return "the request comes from a foreign page; use a key, or a page of this server"
        return None


def _refuse(scope: Scope, headers: Headers, status: HTTPStatus, detail: str, more: Mapping[str, str]) -> Response:
    """Returns the response to a request that is refused: a problem, or for a browser the page that asks for a key."""
    if status is HTTPStatus.UNAUTHORIZED:
        is_shown = headers.get("authorization", "").lower().startswith("bearer ")
        told = ['error="invalid_token"'] if is_shown else []
        told += [f'resource_metadata="{more[_METADATA]}"'] if _METADATA in more else []
        challenge = f"Bearer {', '.join(told)}".strip()
        more = {**{name: one for name, one in more.items() if name != _METADATA}, "WWW-Authenticate": challenge}
        if (page := show_sign_in(Request(scope), more)) is not None:
            return page
    return problem(status, detail, instance=scope["path"], headers=more)


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Whether somebody follows a link of another site to the web page. The page itself says nothing of documents, and
    what it loads then comes from its own origin.
    """
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return is_navigation and scope["method"] in _READING and is_view(scope["path"])


def _refuse_body(scope: Scope, headers: Headers, limit: BodyLimit) -> tuple[HTTPStatus, str] | None:
    if not has_body(headers):
        return None
    if (why := refuse_type(scope, headers)) is not None:
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limit.bytes:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, limit.message
    return None


def _shown_key(headers: Headers) -> str:
    """Returns the key that a request shows, or "". Two headers count as none: a proxy may have checked the other."""
    sent = headers.getlist("authorization")
    scheme, _, shown = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    return shown.strip().encode("latin-1", "replace").decode("utf-8", "replace") if scheme.lower() == "bearer" else ""


def is_loopback(address: str) -> bool:
    """Whether an address (or the name `localhost`) is a loopback address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


_FAREWELL_SECONDS = 5
_MARK = "hopweave.from_folder"
"""In the scope of requests over the socket. No header and no address makes it."""


class FolderSocket:
    """ASGI middleware. Over the folder's socket, a request that names other settings than this server's is refused, so
    that a command with settings of its own answers by itself. Over other sockets nothing changes.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._fingerprint = fingerprint_settings(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_from_folder(scope) and (address := getattr(scope["app"].state, "address", "")):
            send = _name_address(send, address)
        if is_from_folder(scope) and Headers(scope=scope).get(SETTINGS_HEADER, self._fingerprint) != self._fingerprint:
            detail = "this server has other settings, or another version, than the command"
            respond = problem(HTTPStatus.MISDIRECTED_REQUEST, detail, instance=scope["path"])
            await respond(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _name_address(send: Send, address: str) -> Send:
    async def named(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)[ADDRESS_HEADER] = address
        await send(message)

    return named


@contextlib.asynccontextmanager
async def serve_in_folder(app: ASGIApp, settings: Settings) -> AsyncIterator[None]:
    """Serves the application on the folder's socket, too, while the block runs.

    If several processes or servers share a folder, only one serves there. Systems without such sockets serve none.
    """
    with listen_in_folder(settings.data_dir) as listening:
        if listening is None:
            yield
            return

        async def marked(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, _MARK: True}, receive, send)

        config = uvicorn.Config(
            marked,
            lifespan="off",
            access_log=False,
            log_config=None,  # the logs of the process are configured already
            server_header=False,
            timeout_graceful_shutdown=_FAREWELL_SECONDS,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]), name="serving the folder")
        try:
            yield
        finally:
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    """A second server in a process, which leaves the signals and the lines of the log to the first."""

    async def _serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Does what uvicorn does, without `Started server process` and `Finished server process`."""
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup(sockets=sockets)
        if not self.should_exit:
            await self.main_loop()
        if self.started:
            await self.shutdown(sockets=sockets)

    def _log_started_message(self, listeners: Sequence[socket.SocketType]) -> None:
        """Logs nothing: the first server names its address."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def is_from_folder(scope: Scope) -> bool:
    """Whether the request came over the folder's socket."""
    return _MARK in scope
