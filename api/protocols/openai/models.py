"""`GET /v1/models`: corpora as models in OpenAI's form, and the embedding model; `POST /v1/embeddings`: its vectors."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field, field_validator

from api.access.keys import READ
from api.deps import ContainerDep, json_response, run_while_connected
from api.protocols.conversation import ProtocolIn, ignored
from api.protocols.errors import describe_errors
from api.protocols.models import find_model, list_models
from api.schemas.base import Out, Text, Whole
from app.container import Container
from core.errors import InvalidInput, NotFound
from core.ports.embedding import Embedder, Vectors
from core.ports.embedding_form import split_form

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


embedding_router = APIRouter(prefix="/v1/embeddings", tags=["openai"], responses=describe_errors("OpenAIError"))

_MAX_TEXTS = 2048
_Input = Annotated[Text, Field(min_length=1)]


class EmbeddingsIn(ProtocolIn):
    """`input` is a text, or up to 2,048 of them. Texts are embedded as passages."""

    model: Text
    input: _Input | Annotated[list[_Input], Field(min_length=1, max_length=_MAX_TEXTS)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Whole | None = Field(default=None, ge=1, description="Only the model's own number.")
    user: Any = ignored()

    @field_validator("input", mode="before")
    @classmethod
    def _check_tokens(cls, given: Any) -> Any:
        first = given[0] if isinstance(given, list) and given else None
        if isinstance(first, int | list):
            raise ValueError(  # noqa: TRY004 - pydantic takes it for the fault of the field
                "token numbers are refused, since the tokens of this model are others: send texts "
                "(LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False))"
            )
        return given

    @property
    def texts(self) -> list[str]:
        return [self.input] if isinstance(self.input, str) else self.input


class OpenAIEmbeddingOut(Out):
    """`embedding` is a list of numbers, or with `base64` their bytes as little-endian float32."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsageOut(Out):
    prompt_tokens: int
    total_tokens: int


class EmbeddingListOut(Out):
    object: Literal["list"] = "list"
    data: list[OpenAIEmbeddingOut]
    model: str
    usage: EmbeddingUsageOut


@embedding_router.post("", dependencies=[READ], summary="Embed texts", response_model=EmbeddingListOut)
async def create_embeddings(body: EmbeddingsIn, container: ContainerDep, http: Request) -> Response:
    """Unit vectors of the model that this server embeds documents with."""
    return json_response(await run_while_connected(http, _embed(body, container)))


async def _embed(body: EmbeddingsIn, container: Container) -> EmbeddingListOut:
    embedder = container.embedder
    if body.model not in (embedder.model, split_form(embedder.model)[0]):
        raise NotFound(f"the model {body.model!r} does not embed here; this server embeds with {embedder.model!r}")
    if body.dimensions is not None:
        await asyncio.to_thread(_check_dimension, body.dimensions, embedder)
    tokens = await asyncio.to_thread(embedder.tokens.count, body.texts)
    if container.settings.embedding.kind != "openai":  # an endpoint knows its own limit better
        _check_lengths(tokens, embedder.tokens.max_tokens)
    await container.check_tokens()
    container.add_tokens(sum(tokens))
    vectors = await embedder.embed_passages(body.texts)
    as_bytes = body.encoding_format == "base64"
    return EmbeddingListOut(
        data=[OpenAIEmbeddingOut(index=at, embedding=_encode(vectors, at, as_bytes)) for at in range(len(vectors))],
        model=embedder.model,
        usage=EmbeddingUsageOut(prompt_tokens=sum(tokens), total_tokens=sum(tokens)),
    )


def _check_dimension(asked: int, embedder: Embedder) -> None:
    if asked != embedder.dimension:
        raise InvalidInput(
            f"dimensions is {asked}; the vectors of {embedder.model!r} have {embedder.dimension}: leave it out"
        )


def _check_lengths(tokens: Sequence[int], most: int) -> None:
    for at, count in enumerate(tokens):
        if count > most:
            raise InvalidInput(f"input[{at}] has {count} tokens, and the model reads {most}; send shorter texts")


def _encode(vectors: Vectors, at: int, as_bytes: bool) -> list[float] | str:
    if as_bytes:
        return base64.b64encode(vectors[at].astype("<f4").tobytes()).decode()
    return [float(value) for value in vectors[at]]
