"""`POST /api/chat`: a question to a corpus, or to the language model, in Ollama's form."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field, field_validator

from api.access.scopes import READ
from api.connection import run_while_connected
from api.deps import ContainerDep, json_response
from api.protocols.asking import Asked, ask_model
from api.protocols.errors import describe_errors, ollama_error
from api.protocols.fields import ProtocolIn, ignored, refused
from api.protocols.messages import ChatMessageIn
from api.protocols.reply import Reply
from api.protocols.streaming import stream_reply
from api.schemas.base import Flag, LenientIn, Number, Out, Text, Whole

__all__ = ["OllamaChatIn", "router"]

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
