"""The routes of health: whether the process answers, whether its stores do and it is warm, and metrics."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from api.access.keys import caller_of
from api.access.scopes import OPEN, READ
from api.deps import ContainerDep, json_response
from api.problems import STARTING, WRONG_SETTINGS, problem
from api.readiness import Warmth, read_documents
from api.schemas.base import Out
from api.telemetry import IS_STARTING
from app.container import Container
from app.doctor.readiness import Part, PartState, Readiness
from app.telemetry.prometheus import CONTENT_TYPE, PrometheusMeter
from core.errors import Forbidden, InvalidSettings

__all__ = ["router"]

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
