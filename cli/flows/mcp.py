"""Runs `hopweave mcp`: opens the data when a tool first needs it, and asks the server of its folder if one runs."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from api.mcp.server import serve_stdio
from api.mcp.tool import ContainerQuestions, Json, OnEvent, Progress, Tool, ToolCall
from app.composition import choose_composition
from app.container import Container
from cli.local_server import LocalServer, Misdirected, find_server
from core.errors import InvalidInput, NotFound
from core.settings import Settings, read_settings

T = TypeVar("T")

_ADDRESS = "http://127.0.0.1:8000"
"""Where `hopweave serve` listens by default, for links while no server runs."""


def run(root: Path | None, *, write: bool) -> None:
    """Serves until the client closes standard input. Raises `InvalidInput` if `root` is no folder."""
    if root is not None and not root.is_dir():
        raise InvalidInput(f"--root {str(root)!r} is no folder; name the folder from which files may be ingested")
    settings = read_settings()
    asyncio.run(_serve(settings, root, write=write or settings.mcp.write))


async def _serve(settings: Settings, root: Path | None, *, write: bool) -> None:
    opened = _Opened(settings, root)
    try:
        await serve_stdio(opened.open_call, writing=write)
    finally:
        await opened.close()


class _Opened:
    """The container and the worker, once they are needed. A tool that reads makes no data folder."""

    def __init__(self, settings: Settings, root: Path | None) -> None:
        self._settings = settings
        self._root = root
        self._composition = choose_composition(settings)
        self._container: Container | None = None
        self._worker: ExitStack | None = None

    def open_call(self, tool: Tool, progress: Progress) -> ToolCall:
        """Raises `NotFound` for a tool that reads while there is no data."""
        if self._container is None:
            if not tool.writes and not self._composition.exists():
                raise NotFound(
                    f"there are no documents in {self._settings.data_dir} yet; ask the user to ingest some with "
                    "`hopweave ingest`"
                )
            self._container = Container(self._settings)
        if tool.writes and self._worker is None:
            self._worker = ExitStack()
            self._worker.enter_context(self._composition.supervise())
        return ToolCall(
            container=self._container,
            questions=FolderQuestions(self._settings, self._container),
            address=(self._settings.api.public_url or find_address(self._settings) or _ADDRESS).rstrip("/"),
            progress=progress,
            creates_corpora=True,
            root=self._root,
        )

    async def close(self) -> None:
        if self._container is not None:
            await self._container.close()
        if self._worker is not None:
            await asyncio.to_thread(self._worker.close)


class FolderQuestions:
    """Implements `api.mcp.tool.Questions`: by the server that runs on the data folder, which has the models and
    the graph in memory; else in this process.
    """

    def __init__(self, settings: Settings, container: Container) -> None:
        self._settings = settings
        self._container = container

    async def search(self, corpus: str, body: Json) -> Json:
        if (server := find_server(self._settings)) is not None:
            with suppress(Misdirected):
                return await _run(server, partial(server.post, [corpus], "search", body))
        return await ContainerQuestions(self._container).search(corpus, body)

    async def ask(self, corpus: str, body: Json, on_event: OnEvent) -> Json:
        if (server := find_server(self._settings)) is not None:
            loop = asyncio.get_running_loop()

            def pass_on(kind: str, data: Json) -> None:
                loop.call_soon_threadsafe(on_event, kind, data)

            with suppress(Misdirected):
                return await _run(server, partial(_ask, server, corpus, body, pass_on))
        return await ContainerQuestions(self._container).ask(corpus, body, on_event)


def find_address(settings: Settings) -> str:
    """Returns the address of the server that runs on the data folder; '' if there is none."""
    server = find_server(settings)
    if server is None:
        return ""
    with closing(server):
        return server.find_address()


def _ask(server: LocalServer, corpus: str, body: Json, on_event: Callable[[str, Json], object]) -> Json:
    answer: Json = {}
    for kind, data in server.stream([corpus], "ask", {**body, "stream": True}):
        if kind == "answer":
            answer = data
        else:
            on_event(kind, data)
    return answer


async def _run(server: LocalServer, request: Callable[[], T]) -> T:
    """Returns the result of a request in a thread. If the caller is cancelled, hangs up: that ends the work."""
    try:
        return await asyncio.to_thread(request)
    except asyncio.CancelledError:
        server.hang_up()
        raise
    finally:
        server.close()
