"""`create_app`: the HTTP application with its routes, and what runs in the background while it serves."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from importlib.metadata import version

from fastapi import Depends, FastAPI

from api import problems
from api.description import TAGS, complete_description, name_operation
from api.folder_socket import FolderSocket, serve_in_folder
from api.guard import Guard
from api.parameters import refuse_unknown
from api.protocols import dify, ollama, openai
from api.routes import (
    chunks,
    corpora,
    docs,
    documents,
    entities,
    estimates,
    export,
    health,
    imports,
    jobs,
    merges,
    originals,
    questions,
    strategies,
    uploads,
)
from app.container import Container
from app.services.warming import notify_of_waiting_work, warm_up
from core.settings import Settings, read_settings

__all__ = ["create_app"]

_ROUTES = (
    health,
    corpora,
    uploads,  # before the routes of the same paths that take JSON
    documents,
    originals,
    estimates,
    chunks,
    entities,
    questions,
    export,
    imports,
    jobs,
    merges,
    strategies,
    docs,
)

_log = logging.getLogger("hopweave.api")


def create_app(settings: Settings | None = None, *, container: Container | None = None) -> FastAPI:
    """Returns the application.

    A given container is used and not closed; without one, the application makes its own when the server starts.
    """
    settings = container.settings if container is not None else settings or read_settings()
    app = FastAPI(
        title="Hopweave",
        version=version("hopweave"),
        description="A knowledge-graph-backed RAG server.",
        lifespan=_lifespan,
        docs_url=None,  # FastAPI's page loads its script from elsewhere
        redoc_url=None,
        responses=problems.RESPONSES,
        openapi_tags=TAGS,
        generate_unique_id_function=name_operation,
        dependencies=[Depends(refuse_unknown)],
    )
    app.state.settings = settings
    app.state.container = container
    app.add_middleware(Guard, settings=settings.api)
    app.add_middleware(FolderSocket, settings=settings)
    problems.install(app)
    for routes in _ROUTES:
        app.include_router(routes.router)
    for router in (*openai.ROUTERS, *ollama.ROUTERS, *dify.ROUTERS):
        app.include_router(router)
    complete_description(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Opens a container, warms it up in the background, and notifies workers of waiting work."""
    given: Container | None = app.state.container
    container = given or Container(app.state.settings)
    app.state.container = container
    tasks = [
        asyncio.create_task(warm_up(container), name="warming up"),
        asyncio.create_task(notify_of_waiting_work(container), name="notifying"),
    ]
    for task in tasks:
        task.add_done_callback(_report)
    async with serve_in_folder(app, app.state.settings) if given is None else nullcontext():
        yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if given is None:
        await container.close()
        app.state.container = None


def _report(task: "asyncio.Task[None]") -> None:
    """Logs the error of a background task: nothing awaits its result."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("%s ended", task.get_name(), exc_info=error)
