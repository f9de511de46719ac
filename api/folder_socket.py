"""The socket in the data folder: requests over it need no key, and come from a command with the same settings."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from http import HTTPStatus

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import problem
from app.supervision.folder_socket import ADDRESS_HEADER, SETTINGS_HEADER, fingerprint_settings, listen_in_folder
from core.settings import Settings

__all__ = ["FolderSocket", "is_from_folder", "serve_in_folder"]

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
