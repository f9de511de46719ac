"""What routes depend on, named once."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from app.container import Container
from core.corpora import Corpus

__all__ = ["ContainerDep", "CorpusDep", "answered", "job_location"]


async def _container(request: Request) -> Container:
    container: Container = request.app.state.container
    return container


ContainerDep = Annotated[Container, Depends(_container)]


async def _corpus(corpus: str, container: ContainerDep) -> Corpus:
    return await container.record.corpora.get(corpus)


CorpusDep = Annotated[Corpus, Depends(_corpus)]


def answered(model: BaseModel) -> Response:
    """The model as it is: it was checked when it was made, and large answers are not worth checking twice."""
    return Response(model.model_dump_json(), media_type="application/json")


def job_location(response: Response, job_id: str) -> None:
    """Say where the progress of what was begun can be read."""
    response.headers["Location"] = f"/v1/jobs/{job_id}"
