"""The routes of health: whether the process answers, and whether its stores do."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.access.scopes import OPEN
from api.deps import ContainerDep, json_response
from api.problems import WRONG_SETTINGS, problem
from api.schemas.base import Out
from app.container import Container
from app.doctor.readiness import Part, PartState, Readiness
from core.errors import InvalidSettings

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


@router.get("/readyz", dependencies=[OPEN], summary="The stores answer", response_model=ReadinessOut)
async def readyz(request: Request, container: ContainerDep) -> Response:
    """A 503 names the stores that are down. With `code`, a store refuses the settings, and waiting does not help."""
    parts = await _readiness(request, container).look()
    down = {name: part for name, part in parts.items() if part.state is PartState.DOWN}
    if down:
        return _refuse(request, down)
    states = {part.state for part in parts.values()}
    status = PartState.DEGRADED if PartState.DEGRADED in states else PartState.OK
    return json_response(ReadinessOut(status=status, parts={name: _describe(part) for name, part in parts.items()}))


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
