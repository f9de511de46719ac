"""What Ollama's clients ask for before they chat: the models, one model, those that are loaded, and the version."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field, model_validator

from api.access.scopes import READ
from api.deps import ContainerDep
from api.protocols.errors import describe_errors
from api.protocols.fields import ProtocolIn, ignored
from api.protocols.models import EPOCH, find_model, list_models
from api.schemas.base import Out, Text
from core.errors import InvalidInput
from core.ids import digest

__all__ = ["VERSION", "router"]

router = APIRouter(prefix="/api", tags=["ollama"], responses=describe_errors("OllamaError"))

VERSION = "0.12.6"
"""The version of Ollama whose protocol these routes follow. Clients refuse versions that they take for too old."""


class ModelDetailsOut(Out):
    """There are no weights behind a corpus, so all that describes them is empty."""

    parent_model: str = ""
    format: str = ""
    family: str = "hopweave"
    families: list[str] = Field(default_factory=lambda: ["hopweave"])
    parameter_size: str = ""
    quantization_level: str = ""


class TagOut(Out):
    name: str
    model: str
    modified_at: datetime
    size: int = 0
    digest: str
    details: ModelDetailsOut = ModelDetailsOut()


class TagListOut(Out):
    models: list[TagOut]


class VersionOut(Out):
    version: str = VERSION


class ShowIn(ProtocolIn):
    """`name` is what older clients call `model`."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["model"]}, {"required": ["name"]}]})

    model: Text = Field(default_factory=str, min_length=1)
    name: Text = Field(default_factory=str, min_length=1)
    verbose: Any = ignored()
    system: Any = ignored()
    template: Any = ignored()
    options: Any = ignored()

    @model_validator(mode="after")
    def _check(self) -> "ShowIn":
        if not (self.model or self.name):
            raise InvalidInput("`model` is missing; name one of those that GET /api/tags lists")
        return self


class ShowOut(Out):
    license: str = ""
    modelfile: str = ""
    parameters: str = ""
    template: str = ""
    details: ModelDetailsOut = ModelDetailsOut()
    model_info: dict[str, Any]
    capabilities: list[str] = Field(default_factory=lambda: ["completion"])
    modified_at: datetime


@router.get("/tags", dependencies=[READ], summary="List what chat clients may use as a model")
async def list_tags(container: ContainerDep) -> TagListOut:
    tags = [
        TagOut(name=one.id, model=one.id, modified_at=one.created, digest=digest("model", [one.id]))
        for one in await list_models(container)
    ]
    return TagListOut(models=tags)


@router.get("/ps", dependencies=[READ], summary="List models that are loaded: none")
async def list_loaded_models() -> TagListOut:
    return TagListOut(models=[])


@router.post("/show", dependencies=[READ], summary="One model")
async def show_model(body: ShowIn, container: ContainerDep) -> ShowOut:
    name = body.model or body.name
    found = await find_model(container, name)
    listed = {one.id: one for one in await list_models(container)}
    one = listed.get(found.corpus.name if found.corpus is not None else name)
    info = {"general.architecture": "hopweave", "general.basename": name}
    return ShowOut(model_info=info, modified_at=EPOCH if one is None else one.created)


@router.get("/version", dependencies=[READ], summary="The version of Ollama's protocol")
async def get_ollama_version() -> VersionOut:
    return VersionOut()
