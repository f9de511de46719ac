"""`GET /v1/models`: corpora as models in OpenAI's form, and the embedding model."""

from typing import Literal

from fastapi import APIRouter

from api.access.scopes import READ
from api.deps import ContainerDep
from api.protocols.errors import describe_errors
from api.protocols.models import find_model, list_models
from api.schemas.base import Out
from app.container import Container

__all__ = ["router"]

router = APIRouter(prefix="/v1/models", tags=["openai"], responses=describe_errors("OpenAIError"))


class ModelOut(Out):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "hopweave"
    description: str


class ModelListOut(Out):
    object: Literal["list"] = "list"
    data: list[ModelOut]


@router.get("", dependencies=[READ], summary="List what chat clients may use as a model")
async def list_chat_models(container: ContainerDep) -> ModelListOut:
    """A model for each corpus, `CORPUS:REASONER` for each reasoner, `plain` if there is a language model, and the
    embedding model for `/v1/embeddings`.
    """
    return ModelListOut(data=await _list(container))


@router.get("/{model:path}", dependencies=[READ], summary="One model")
async def get_chat_model(model: str, container: ContainerDep) -> ModelOut:
    for listed in await _list(container):
        if listed.id == model:
            return listed
    found = await find_model(container, model)
    created = 0 if found.corpus is None else int(found.corpus.created_at.timestamp())
    return ModelOut(id=model, created=created, description="A corpus, and the reasoner that answers from it.")


async def _list(container: Container) -> list[ModelOut]:
    listed = [
        ModelOut(id=one.id, created=int(one.created.timestamp()), description=one.description)
        for one in await list_models(container)
    ]
    embedding = ModelOut(id=container.embedder.model, created=0, description="The embedding model.")
    return [*listed, embedding]
