"""`POST /v1/chat/completions`: a question to a corpus, or to the language model, in OpenAI's form.

First come the body and its responses. `docs/clients/openai.md` lists the parameters.
"""

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.access.keys import READ
from api.deps import ContainerDep, json_response, run_while_connected
from api.protocols.asking import Asked, ask_model, stream_reply
from api.protocols.conversation import ChatMessageIn, ProtocolIn, ignored, refused
from api.protocols.errors import describe_errors, openai_error
from api.protocols.reply import Reply, Source
from api.schemas.base import Flag, Number, Out, Text, Whole
from core.trace import Usage
from hopweave.wire.search import LINK

_Stop = Annotated[Text, Field(min_length=1, max_length=200)]
NO_TOOLS = "this server calls no tools; leave them out"
TEXT_ONLY = "answers are text"


class StreamOptionsIn(ProtocolIn):
    include_usage: Flag = Field(default=False, description="Send the usage in a last chunk.")
    include_obfuscation: Any = ignored()


class ChatIn(ProtocolIn):
    """A conversation. Messages of the roles `system` and `developer` say how the answer is to be written; the last
    message is the question.
    """

    model: Text = Field(description="`CORPUS`, `CORPUS:REASONER`, or `plain` for the language model alone.")
    messages: list[ChatMessageIn] = Field(min_length=1)
    stream: Flag | None = None
    stream_options: StreamOptionsIn | None = None
    stop: _Stop | Annotated[list[_Stop], Field(max_length=4)] | None = None
    temperature: Number | None = Field(default=None, ge=0, le=2, description="For `plain`; else ignored.")
    max_tokens: Whole | None = Field(default=None, ge=1, description="For `plain`; else ignored.")
    max_completion_tokens: Whole | None = Field(default=None, ge=1, description="As `max_tokens`.")

    frequency_penalty: Any = ignored()
    logit_bias: Any = ignored()
    metadata: Any = ignored()
    min_p: Any = ignored()
    moderation: Any = ignored()
    parallel_tool_calls: Any = ignored()
    prediction: Any = ignored()
    presence_penalty: Any = ignored()
    prompt_cache_key: Any = ignored()
    prompt_cache_options: Any = ignored()
    prompt_cache_retention: Any = ignored()
    reasoning_effort: Any = ignored()
    repetition_penalty: Any = ignored()
    safety_identifier: Any = ignored()
    seed: Any = ignored()
    service_tier: Any = ignored()
    store: Any = ignored()
    top_k: Any = ignored()
    top_p: Any = ignored()
    user: Any = ignored()
    verbosity: Any = ignored()

    audio: Any = refused(TEXT_ONLY)
    function_call: Any = refused(NO_TOOLS, "none", "auto")
    functions: Any = refused(NO_TOOLS)
    logprobs: Any = refused("there are none")
    modalities: Any = refused(TEXT_ONLY, ["text"])
    n: Any = refused("there is one answer to a question", 1)
    response_format: Any = refused("answers are cited text", {"type": "text"})
    tool_choice: Any = refused(NO_TOOLS, "none", "auto")
    tools: Any = refused(NO_TOOLS)
    top_logprobs: Any = refused("there are none")
    web_search_options: Any = refused("answers are from the corpus")

    @property
    def stops(self) -> tuple[str, ...]:
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def includes_usage(self) -> bool:
        return self.stream_options is not None and self.stream_options.include_usage


class UrlCitationOut(Out):
    """`start_index` and `end_index` are the place of the marker in `content`."""

    start_index: int
    end_index: int
    title: str
    url: str = Field(description="The page of the web, else `link`, else the original document on this server.")
    link: str | None = Field(description=LINK + " Not a part of OpenAI's protocol.")


class AnnotationOut(Out):
    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitationOut


class MessageOut(Out):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[AnnotationOut] = Field(description="A citation for each marker of the answer.")


class ChoiceOut(Out):
    index: int = 0
    message: MessageOut
    finish_reason: Literal["stop", "length"]
    logprobs: None = None


class CompletionUsageOut(Out):
    """The tokens of all calls of models that the answer took."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def from_usage(cls, usage: Usage) -> "CompletionUsageOut":
        return cls(
            prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens, total_tokens=usage.tokens
        )


class DetailsOut(Out):
    """How the answer came about; not a part of OpenAI's protocol."""

    reasoner: str
    support: str
    abstained: bool
    notes: list[str]


class CompletionOut(Out):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChoiceOut]
    usage: CompletionUsageOut
    hopweave: DetailsOut | None = Field(default=None, description="Null for `plain`.")


def cite(sources: tuple[Source, ...], offset: int = 0) -> list[dict[str, Any]]:
    """Returns the values of a `UrlCitationOut` for each source of a content in which the answer begins at `offset`."""
    return [
        {
            "start_index": source.span.start + offset,
            "end_index": source.span.end + offset,
            "title": source.title,
            "url": source.url,
            "link": source.link,
        }
        for source in sources
    ]


def annotate(sources: tuple[Source, ...], offset: int = 0) -> list[AnnotationOut]:
    """Returns the sources as annotations of a content in which the answer begins at `offset`."""
    return [AnnotationOut(url_citation=UrlCitationOut(**values)) for values in cite(sources, offset)]


def read_details(details: dict[str, Any]) -> DetailsOut | None:
    """Returns the details of a reply; None if it has none."""
    return DetailsOut(**details) if details else None


router = APIRouter(prefix="/v1/chat", tags=["openai"], responses=describe_errors("OpenAIError"))

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The completion; with `stream`, chunks as server-sent events, the last of which is `[DONE]`.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "description": "One event; `data` is a chunk of the completion as JSON, or `[DONE]`.",
                    "type": "object",
                    "required": ["data"],
                    "properties": {"data": {"type": "string"}},
                }
            }
        },
    }
}


@router.post(
    "/completions",
    dependencies=[READ],
    summary="Answer a conversation",
    response_model=CompletionOut,
    responses=_STREAM,
)
async def create_chat_completion(body: ChatIn, container: ContainerDep, http: Request) -> Response:
    asked = await ask_model(
        container,
        http,
        body.model,
        [message.to_message() for message in body.messages],
        stops=body.stops,
        temperature=body.temperature,
        max_tokens=body.max_completion_tokens or body.max_tokens,
    )
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body.model}
    if body.stream:
        chunks = _Chunks(head=head, asked=asked, includes_usage=body.includes_usage)
        return await stream_reply(http, asked.write, chunks, asked.stops)
    reply = await run_while_connected(http, asked.write())
    message = MessageOut(content=reply.text, annotations=annotate(reply.sources))
    return json_response(
        CompletionOut(
            **head,
            choices=[ChoiceOut(message=message, finish_reason=reply.finish)],
            usage=CompletionUsageOut.from_usage(asked.trace.usage),
            hopweave=read_details(reply.details),
        )
    )


@dataclass(frozen=True, kw_only=True)
class _Chunks:
    """The stream as chunks of a completion (a `Wire`). Annotations come with the last piece of the message."""

    head: dict[str, Any]
    asked: Asked
    includes_usage: bool
    media_type = "text/event-stream"
    ping = b": ping\n\n"

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def send_text(self, piece: str) -> bytes:
        return self._chunk({"content": piece})

    def end(self, reply: Reply, offset: int) -> Iterator[bytes]:
        details = {"hopweave": reply.details} if reply.details else {}
        if reply.sources:
            yield self._chunk({"annotations": [one.model_dump() for one in annotate(reply.sources, offset)]})
        yield self._chunk({}, finish=reply.finish, **details)
        if self.includes_usage:
            usage = CompletionUsageOut.from_usage(self.asked.trace.usage).model_dump()
            yield _event({**self._shared, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def send_error(self, details: dict[str, Any]) -> bytes:
        return _event(openai_error(details))

    @property
    def _shared(self) -> dict[str, Any]:
        return {**self.head, "object": "chat.completion.chunk"}

    def _chunk(self, delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        usage = {"usage": None} if self.includes_usage else {}
        return _event({**self._shared, "choices": [choice], **usage, **more})


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
