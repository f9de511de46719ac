"""The socket in the data folder: requests over it need no key, and come from a command with the same settings."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.problems import problem
from app.supervision.folder_socket import SETTINGS_HEADER, fingerprint_settings, listen_in_folder
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
        if is_from_folder(scope) and Headers(scope=scope).get(SETTINGS_HEADER, self._fingerprint) != self._fingerprint:
            detail = "this server has other settings, or another version, than the command"
            respond = problem(HTTPStatus.MISDIRECTED_REQUEST, detail, instance=scope["path"])
            await respond(scope, receive, send)
            return
        await self._app(scope, receive, send)


@contextlib.asynccontextmanager
async def serve_in_folder(app: ASGIApp, settings: Settings) -> AsyncIterator[None]:
    """Serves the application on the folder's socket, too, while the block runs.

    Of several processes, and of several servers on one folder, one does. Where there are no such sockets, none does.
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
    """A second server in a process, which leaves the signals to the first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def is_from_folder(scope: Scope) -> bool:
    """Whether the request came over the folder's socket."""
    return _MARK in scope
