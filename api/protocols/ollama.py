"""Ollama's protocol: `POST /api/chat`, a question to a corpus or to the language model.

The end has what Ollama's clients ask for before they chat: the models, one model, those that are loaded, and the
version.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field, field_validator, model_validator

from api.access.keys import READ
from api.deps import ContainerDep, json_response, run_while_connected
from api.protocols.asking import Asked, ask_model, stream_reply
from api.protocols.conversation import ChatMessageIn, ProtocolIn, ignored, refused
from api.protocols.errors import describe_errors, ollama_error
from api.protocols.models import EPOCH, find_model, list_models
from api.protocols.reply import Reply
from api.schemas.base import Flag, LenientIn, Number, Out, Text, Whole
from core.errors import InvalidInput
from core.ids import digest

router = APIRouter(prefix="/api", tags=["ollama"], responses=describe_errors("OllamaError"))

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; unless `stream` is false, its pieces as lines of JSON.",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}
_NANOSECONDS = 1_000_000_000
_Stop = Annotated[Text, Field(min_length=1, max_length=200)]


class OptionsIn(LenientIn):
    """Options of a model. All others are ignored."""

    stop: _Stop | Annotated[list[_Stop], Field(max_length=4)] | None = None
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = Field(
        default=None, description="For `plain`; else ignored."
    )
    num_predict: Whole | None = Field(default=None, description="For `plain`, if above 0; else ignored.")


class OllamaMessageIn(ChatMessageIn):
    """A message; `thinking` and other fields of answers are ignored."""

    images: list[str] | None = Field(default=None, max_length=0, description="Refused: this server reads text.")

    @field_validator("images", mode="before")
    @classmethod
    def _check_images(cls, images: Any) -> Any:
        if images:
            raise ValueError("images are refused: this server reads text; leave them out")
        return images


class OllamaChatIn(ProtocolIn):
    """A conversation, whose last message is the question."""

    model: Text = Field(description="`CORPUS`, `CORPUS:REASONER`, or `plain` for the language model alone.")
    messages: list[OllamaMessageIn] = Field(min_length=1)
    stream: Flag = True
    options: OptionsIn | None = None
    keep_alive: Any = ignored()
    logprobs: Any = refused("there are none")
    top_logprobs: Any = refused("there are none", 0)
    think: Any = ignored()
    tools: Any = refused("this server calls no tools; leave them out")
    format: Any = refused("answers are cited text")

    @property
    def stops(self) -> tuple[str, ...]:
        stop = self.options.stop if self.options else None
        return (stop,) if isinstance(stop, str) else tuple(stop or ())

    @property
    def max_tokens(self) -> int | None:
        most = self.options.num_predict if self.options else None
        return most if most is not None and most > 0 else None


class OllamaMessageOut(Out):
    role: Literal["assistant"] = "assistant"
    content: str


class OllamaChatOut(Out):
    """Durations are in nanoseconds; counts are those of all calls of models that the answer took."""

    model: str
    created_at: str
    message: OllamaMessageOut
    done: bool = True
    done_reason: Literal["stop", "length"]
    total_duration: int
    load_duration: int = 0
    prompt_eval_count: int
    prompt_eval_duration: int = 0
    eval_count: int
    eval_duration: int


@router.post(
    "/chat", dependencies=[READ], summary="Answer a conversation", response_model=OllamaChatOut, responses=_STREAM
)
async def chat_as_ollama(body: OllamaChatIn, container: ContainerDep, http: Request) -> Response:
    asked = await ask_model(
        container,
        http,
        body.model,
        [message.to_message() for message in body.messages],
        stops=body.stops,
        temperature=body.options.temperature if body.options else None,
        max_tokens=body.max_tokens,
    )
    lines = _Lines(model=body.model, asked=asked, began=time.monotonic_ns())
    if body.stream:
        return await stream_reply(http, asked.write, lines, asked.stops)
    reply = await run_while_connected(http, asked.write())
    return json_response(lines.summarize(reply, reply.text))


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """The stream as lines of JSON (a `Wire`). An empty piece tells a waiting client that the server is alive."""

    model: str
    asked: Asked
    began: int
    media_type = "application/x-ndjson"

    @property
    def ping(self) -> bytes:
        return self.send_text("")

    def begin(self) -> bytes:
        return b""

    def send_text(self, piece: str) -> bytes:
        message = {"role": "assistant", "content": piece}
        return _line({"model": self.model, "created_at": _now(), "message": message, "done": False})

    def end(self, reply: Reply, offset: int) -> Iterator[bytes]:  # noqa: ARG002  # sources have no places here
        yield _line(self.summarize(reply, "").model_dump())

    def send_error(self, details: dict[str, Any]) -> bytes:
        return _line(ollama_error(details))

    def summarize(self, reply: Reply, text: str) -> OllamaChatOut:
        usage = self.asked.trace.usage
        return OllamaChatOut(
            model=self.model,
            created_at=_now(),
            message=OllamaMessageOut(content=text),
            done_reason=reply.finish,
            total_duration=time.monotonic_ns() - self.began,
            prompt_eval_count=usage.prompt_tokens,
            eval_count=usage.completion_tokens,
            eval_duration=int(usage.seconds * _NANOSECONDS),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _line(value: dict[str, Any]) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False)}\n".encode()


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
