"""Whether the server is alive, and whether it can work."""

from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.deps import ContainerDep, answered
from api.problems import problem
from api.shapes.base import Out
from app.readiness import unready

__all__ = ["router"]

router = APIRouter(tags=["health"])


class HealthOut(Out):
    status: str = "ok"


@router.get("/healthz", summary="The process answers", response_model=HealthOut)
async def healthz() -> Response:
    return answered(HealthOut())


@router.get("/readyz", summary="The stores answer", response_model=HealthOut)
async def readyz(request: Request, container: ContainerDep) -> Response:
    """503 names the stores that are down."""
    down = await unready(container)
    if not down:
        return answered(HealthOut())
    detail = "; ".join(f"{store} is down: {reason}" for store, reason in down.items())
    headers = {"Retry-After": "5"}
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, instance=request.url.path, headers=headers)
