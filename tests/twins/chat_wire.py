"""The bodies of OpenAI's chat protocol, as the scripted chat server sends them."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tests.twins.chat_script import Call, Reply

__all__ = ["completion", "error", "events", "models", "pieces"]

_PIECE = re.compile(r"\S{1,12}\s*|\s+")


def completion(call: Call, reply: Reply) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    body = _head(call, "chat.completion", reply) | {"choices": [choice] if reply.choices else []}
    if reply.usage:
        body["usage"] = _usage(call, reply)
    return json.dumps(body).encode()


def events(call: Call, reply: Reply) -> Iterator[bytes]:
    """The events of a stream: one for each piece of the text, then how it finished, then the usage if asked for."""
    head = _head(call, "chat.completion.chunk", reply)

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    if reply.choices:
        for piece in pieces(reply.reasoning):
            yield event({"reasoning_content": piece})
        for piece in pieces(reply.text):
            yield event({"role": "assistant", "content": piece})
        yield event({}, reply.finish_reason)
    else:
        yield _event(head | {"choices": []})
    if reply.usage and (call.body.get("stream_options") or {}).get("include_usage"):
        yield _event(head | {"choices": [], "usage": _usage(call, reply)})


def pieces(text: str) -> list[str]:
    """A text as a stream hands it out."""
    return _PIECE.findall(text)


def error(status: int, message: str, code: str = "") -> bytes:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code or None}}).encode()


def models(names: Collection[str], fields: Mapping[str, Any]) -> bytes:
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "tests", **fields} for name in sorted(names)]
    return json.dumps({"object": "list", "data": data}).encode()


def _head(call: Call, kind: str, reply: Reply) -> dict[str, Any]:
    head = {"id": f"chat-{call.number}", "object": kind, "created": 0, "model": call.body["model"]}
    return head | ({"system_fingerprint": reply.fingerprint} if reply.fingerprint else {})


def _usage(call: Call, reply: Reply) -> dict[str, int]:
    written = max(1, len(reply.text + reply.reasoning) // 4)
    prompt = call.prompt_tokens if reply.counted is None else reply.counted
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
