"""The routes of the server itself: whether the process answers, whether its stores do and it is warm, metrics, and the
description for clients without a token (RFC 9728), as the authorization of MCP asks for it.

First comes what they need of the container: whether this process is warm, and the counts of documents.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from api.access.keys import METADATA_PATH, OPEN, READ, caller_of
from api.access.tokens import describe_resource, own_address
from api.deps import ContainerDep, json_response
from api.problems import STARTING, WRONG_SETTINGS, problem
from api.schemas.base import Out
from api.telemetry import IS_STARTING
from app.container import Container
from app.doctor.readiness import Part, PartState, Readiness
from app.services.warming import warm_up
from app.telemetry.prometheus import CONTENT_TYPE, PrometheusMeter, is_alive, shared_folder
from core.errors import Forbidden, HopweaveError, InvalidSettings, NotFound
from core.execution.processes import freeze_objects
from core.ports.record.commits import DocumentCount
from core.settings import Settings

_COUNT_SECONDS = 10.0

_MARK = "warming-"


class Warmth:
    """Whether everything is loaded that the first search would wait for, or loading it took too long.

    Any process of a server may receive the first search, so all of them must have loaded everything. Each marks in the
    folder that they share that it has not.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._deadline = time.monotonic() + container.settings.api.warm_seconds
        self._is_done = False
        self.stage = "loading models"
        """What is being loaded, for messages."""
        self._folder = shared_folder()
        self._mark = None if self._folder is None else self._folder / f"{_MARK}{os.getpid()}"
        if self._mark is not None:
            self._mark.touch()

    @property
    def is_warm(self) -> bool:
        return time.monotonic() >= self._deadline or (self._is_done and not self._are_others_warming())

    async def warm_up(self) -> None:
        """Loads everything. An error that searches would raise again ends the loading, too."""
        try:
            await warm_up(self._container, self._report)
        finally:
            if self._folder is not None:
                freeze_objects()
            self._is_done = True
            self.stage = "other processes are loading"
            if self._mark is not None:
                self._mark.unlink(missing_ok=True)

    def _are_others_warming(self) -> bool:
        marks = [] if self._folder is None else self._folder.glob(f"{_MARK}*")
        return any(is_alive(int(mark.name.removeprefix(_MARK))) for mark in marks)

    def _report(self, stage: str) -> None:
        self.stage = stage


async def read_documents(state: Any, container: Container) -> Sequence[DocumentCount]:
    """Returns the counts of the record, which are read at most every ten seconds; none while it does not answer."""
    read_at, documents = getattr(state, "documents", (float("-inf"), ()))
    if time.monotonic() - read_at < _COUNT_SECONDS:
        counted: Sequence[DocumentCount] = documents
        return counted
    try:
        counted = await container.record.maintenance.count_documents()
    except HopweaveError:  # metrics of this process are served nevertheless; `/readyz` names the record
        return ()
    state.documents = time.monotonic(), counted
    return counted


router = APIRouter(tags=["health"])


class HealthOut(Out):
    status: str = "ok"


class ReadinessOut(Out):
    """`degraded` if a part is missing that no request waits for. Each part is `ok`, or `degraded` with the reason."""

    status: str
    parts: Mapping[str, str]


@router.get("/healthz", dependencies=[OPEN], summary="The process answers", response_model=HealthOut)
async def healthz() -> Response:
    return json_response(HealthOut())


@router.get("/readyz", dependencies=[OPEN], summary="The first search will be quick", response_model=ReadinessOut)
async def readyz(request: Request, container: ContainerDep) -> Response:
    """A 503 names the stores that are down. With the `code` `wrong_settings`, a store refuses the settings, and waiting
    does not help. With `starting`, models and snapshots are still being loaded.
    """
    parts = await _readiness(request, container).look()
    down = {name: part for name, part in parts.items() if part.state is PartState.DOWN}
    if down:
        return _refuse(request, down)
    warmth: Warmth | None = request.app.state.warmth
    if warmth is not None and not warmth.is_warm:
        detail = f"starting: {warmth.stage}"
        path = request.url.path
        setattr(request.state, IS_STARTING, True)
        return problem(503, detail, instance=path, code=STARTING, headers={"Retry-After": "1"})
    states = {part.state for part in parts.values()}
    status = PartState.DEGRADED if PartState.DEGRADED in states else PartState.OK
    return json_response(ReadinessOut(status=status, parts={name: _describe(part) for name, part in parts.items()}))


@router.get("/metrics", dependencies=[READ], summary="Metrics for Prometheus", response_class=PlainTextResponse)
async def metrics(request: Request, container: ContainerDep) -> Response:
    """The sums of all processes of this server, in the text format of Prometheus. A key must be for all corpora."""
    if caller_of(request.scope).access.is_restricted:
        raise Forbidden("metrics are sums over all corpora: make a key without `--corpus` and `--filter`")
    documents = await read_documents(request.app.state, container)
    meter: PrometheusMeter = request.app.state.meter
    return Response(await asyncio.to_thread(meter.render, documents), media_type=CONTENT_TYPE)


@router.get(METADATA_PATH, dependencies=[OPEN], include_in_schema=False)
async def describe_server(request: Request) -> Response:
    return _describe_resource(request, "")


@router.get(f"{METADATA_PATH}/mcp", dependencies=[OPEN], include_in_schema=False)
async def describe_mcp(request: Request) -> Response:
    return _describe_resource(request, "/mcp")


def _describe_resource(request: Request, path: str) -> Response:
    settings: Settings = request.app.state.settings
    if not settings.oidc.issuer:
        raise NotFound("this server accepts no tokens: HOPWEAVE_OIDC__ISSUER is not set")
    address = own_address(request, settings.api)
    if not address:
        detail = "this host is not one of this server's: set HOPWEAVE_API__PUBLIC_URL, or add it to HOPWEAVE_API__HOSTS"
        return problem(HTTPStatus.MISDIRECTED_REQUEST, detail, instance=request.url.path)
    return JSONResponse(describe_resource(settings.oidc, address + path))


def _refuse(request: Request, down: Mapping[str, Part]) -> Response:
    detail = "; ".join(f"{name} is down: {part.said}" for name, part in down.items())
    refused = any(isinstance(part.error, InvalidSettings) for part in down.values())
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        detail,
        instance=request.url.path,
        code=WRONG_SETTINGS if refused else None,
        headers=None if refused else {"Retry-After": "5"},
    )


def _readiness(request: Request, container: Container) -> Readiness:
    """Returns the application's only instance, so that requests share one check of a store that hangs."""
    state = request.app.state
    if getattr(state, "readiness", None) is None:
        state.readiness = Readiness(container)
    readiness: Readiness = state.readiness
    return readiness


def _describe(part: Part) -> str:
    return part.state if part.state is PartState.OK else f"{part.state}: {part.said}"
