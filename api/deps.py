"""The shared parts of routes: the dependencies that FastAPI injects, and the responses that several routes build."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from api.access.keys import caller_of
from api.access.limits import Ledger
from app.access.container import RestrictedContainer
from app.container import Container
from core.corpora import Corpus

__all__ = ["ContainerDep", "CorpusDep", "container_of", "json_response", "set_job_location"]


def container_of(request: Request) -> Container:
    """Returns the container as the caller may use it: what the caller's key may not see is not there."""
    whole: Container = request.app.state.container
    ledger: Ledger = request.app.state.ledger
    caller = caller_of(request.scope)
    return RestrictedContainer(whole, caller.access, ledger.meter(caller), caller.id)


async def _container(request: Request) -> Container:  # a plain function would run in a thread
    return container_of(request)


ContainerDep = Annotated[Container, Depends(_container)]


async def _corpus(corpus: str, container: ContainerDep) -> Corpus:
    return await container.record.corpora.get(corpus)


CorpusDep = Annotated[Corpus, Depends(_corpus)]
"""The corpus that the path names; an unknown corpus is a 404."""


def json_response(model: BaseModel) -> Response:
    """Returns the model as JSON, without the second validation that FastAPI makes: large answers are slow to check."""
    return Response(model.model_dump_json(), media_type="application/json")


def set_job_location(response: Response, job_id: str) -> None:
    """Sets `Location` to the job, where a client reads its progress."""
    response.headers["Location"] = f"/v1/jobs/{job_id}"
