"""`create_app`: the HTTP application with its routes, and what runs in the background while it serves."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import cache
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from api import problems
from api.access.issuer import IssuerKeys, Provider
from api.access.keys import LONG_ENOUGH, Keyring, check_declared, prime
from api.access.limits import Attempts, Ledger
from api.access.sessions import Sessions
from api.access.tokens import Tokens
from api.deps import refuse_unknown
from api.description import TAGS, Description, complete_description, name_operation
from api.guard import FolderSocket, Guard, serve_in_folder
from api.mcp.endpoint import PATH as MCP_PATH
from api.mcp.endpoint import McpEndpoint
from api.page import responses as page
from api.protocols import dify, ollama, openai
from api.routes import (
    certificates,
    corpora,
    docs,
    documents,
    entities,
    graph_schemas,
    health,
    jobs,
    made_questions,
    originals,
    questions,
    resolution,
    sessions,
    sign_in,
)
from api.routes.health import Warmth
from api.telemetry import RequestTelemetry, limit_accept_errors, measure_event_loop, measure_snapshots
from api.transport.shield import Shield
from api.transport.turns import Turns
from app.container import Container
from app.services.stored_questions.questions import clean_questions
from app.services.stored_questions.runner import QuestionRunner
from app.services.warming import clean_snapshots, follow_recent, notify_of_waiting_work
from app.telemetry.prometheus import PrometheusMeter
from core.faults import describe_bug
from core.ports.record import Keys
from core.settings import Settings, read_settings

_ROUTERS = (
    health.router,
    corpora.router,
    certificates.router,
    documents.upload_router,  # before the routes of the same paths that take JSON
    documents.router,
    originals.router,
    documents.estimate_router,
    originals.chunk_router,
    entities.router,
    questions.router,
    questions.stored_router,
    made_questions.router,
    corpora.export_router,
    corpora.import_router,
    jobs.router,
    entities.merge_router,
    resolution.router,
    graph_schemas.router,
    docs.strategy_router,
    sessions.router,
    sign_in.router,
    docs.router,
    page.router,
    *openai.ROUTERS,
    ollama.router,
    dify.router,
)

_METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE")
_MCP_HEADERS = ("Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id")
_REQUEST_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-ID", *_MCP_HEADERS)
_RESPONSE_HEADERS = (
    "Content-Disposition",
    "ETag",
    "Idempotent-Replayed",
    "Location",
    "Mcp-Session-Id",
    "Retry-After",
    "X-Marked",
    "X-Pages",
    "X-Request-ID",
)
_PREFLIGHT_SECONDS = 600

_log = logging.getLogger("hopweave.api")


def create_app(
    settings: Settings | None = None, *, container: Container | None = None, meter: PrometheusMeter | None = None
) -> FastAPI:
    """Returns the application.

    A given container is used and not closed; without a container, the application makes its own when the server starts.
    `meter` is the meter of the process; without a meter, `/metrics` has only what the record knows.
    """
    settings = container.settings if container is not None else settings or read_settings()
    app = FastAPI(
        title="Hopweave",
        version=version("hopweave"),
        description="A knowledge-graph-backed RAG server.",
        lifespan=_lifespan,
        openapi_url=None,  # FastAPI builds its description when the first request asks for it
        docs_url=None,  # FastAPI's page loads its script from elsewhere
        redoc_url=None,
        openapi_tags=TAGS,
    )
    app.state.settings = settings
    app.state.container = container
    app.state.meter = meter or PrometheusMeter(by_corpus=settings.metrics.corpora)
    app.state.warmth = None
    app.state.questions = QuestionRunner()
    _add_middleware(app, settings)
    problems.install(app)
    app.state.mcp = McpEndpoint(settings)
    mcp_route = Route(MCP_PATH, app.state.mcp)
    app.router.routes.extend([*_include_routers().routes, mcp_route])
    app.state.routes = [*(route for router in _ROUTERS for route in router.routes), mcp_route]
    complete_description(app)
    app.state.description = Description(app)
    return app


@cache
def _include_routers() -> APIRouter:
    """Returns the router that all applications of this process share: what FastAPI derives from it takes a second.

    A server makes one application; tests make hundreds.
    """
    included = APIRouter(
        responses=problems.RESPONSES,
        generate_unique_id_function=name_operation,
        dependencies=[Depends(check_declared), Depends(refuse_unknown)],
    )
    for router in _ROUTERS:
        included.include_router(router)
    return included


def _add_middleware(app: FastAPI, all_settings: Settings) -> None:
    """Adds the middleware, the innermost first: a preflight of another origin needs no key."""
    settings = all_settings.api

    def keys() -> Keys:
        container: Container = app.state.container
        return container.record.keys

    own = [key.get_secret_value() for key in settings.keys]
    oidc = all_settings.oidc
    app.state.keyring = Keyring(own, keys, accepts_tokens=bool(oidc.issuer))
    app.state.issuer_keys = IssuerKeys(oidc)
    app.state.tokens = Tokens(oidc, app.state.issuer_keys) if oidc.issuer else None
    app.state.provider = Provider(oidc) if oidc.client_id else None
    if app.state.keyring.has_guessable:
        _log.warning("HOPWEAVE_API__KEYS has a key of fewer than %d characters, which could be guessed", LONG_ENOUGH)
    app.state.ledger = Ledger(keys)
    app.state.attempts = Attempts()
    app.state.sessions = Sessions(all_settings, app.state.keyring, app.state.tokens)
    app.add_middleware(
        Guard,
        settings=settings,
        keyring=app.state.keyring,
        attempts=app.state.attempts,
        sessions=app.state.sessions,
        ledger=app.state.ledger,
        tokens=app.state.tokens,
    )
    app.add_middleware(FolderSocket, settings=all_settings)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=_METHODS,
            allow_headers=_REQUEST_HEADERS,
            expose_headers=_RESPONSE_HEADERS,
            max_age=_PREFLIGHT_SECONDS,
        )
    app.add_middleware(Shield)
    app.add_middleware(Turns)
    app.add_middleware(RequestTelemetry)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Opens a container, warms it up in the background, and notifies workers of waiting work."""
    given: Container | None = app.state.container
    container = given or Container(app.state.settings)
    app.state.container = container
    limit_accept_errors(asyncio.get_running_loop())
    app.state.warmth = warmth = Warmth(container)
    tasks = [
        asyncio.create_task(prime(app.state.keyring), name="reading the keys"),
        asyncio.create_task(app.state.description.build(), name="describing the API"),
        asyncio.create_task(warmth.warm_up(), name="warming up"),
        asyncio.create_task(notify_of_waiting_work(container), name="notifying"),
        asyncio.create_task(clean_snapshots(container), name="cleaning snapshots"),
        asyncio.create_task(follow_recent(container), name="following corpora"),
        asyncio.create_task(clean_questions(container), name="cleaning questions"),
        asyncio.create_task(measure_event_loop(), name="measuring the event loop"),
        asyncio.create_task(measure_snapshots(container), name="measuring snapshots"),
    ]
    for task in tasks:
        task.add_done_callback(_report)
    async with serve_in_folder(app, app.state.settings) if given is None else nullcontext():
        yield
    await app.state.questions.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, app.state.mcp.close(), app.state.issuer_keys.close(), return_exceptions=True)
    if given is None:
        await container.close()
        app.state.container = None


def _report(task: "asyncio.Task[None]") -> None:
    """Logs the error of a background task: nothing awaits its result."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("%s ended: %s", task.get_name(), describe_bug(error))
