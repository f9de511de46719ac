"""`POST /v1/chat/completions`: a question to a corpus, or to the language model, in OpenAI's form."""

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response

from api.access.scopes import READ
from api.connection import run_while_connected
from api.deps import ContainerDep, json_response
from api.protocols.asking import Asked, ask_model
from api.protocols.errors import describe_errors, openai_error
from api.protocols.openai.chat_schemas import (
    ChatIn,
    ChoiceOut,
    CompletionOut,
    CompletionUsageOut,
    MessageOut,
    annotate,
    read_details,
)
from api.protocols.reply import Reply
from api.protocols.streaming import stream_reply

__all__ = ["router"]

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
