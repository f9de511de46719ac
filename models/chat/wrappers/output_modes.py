"""A chat model that requests JSON in the best way that its endpoint supports."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.ids import digest
from core.ports.chat import ChatRequest, Completion, Message, OnToken, Speaker
from core.trace import Trace
from models.chat.chat_errors import FormatRefused
from models.chat.openai_chat import OpenAIChat, OutputMode

__all__ = ["OutputModes"]

_WORSE = {OutputMode.SCHEMA: OutputMode.OBJECT, OutputMode.OBJECT: OutputMode.TEXT}
_TOLD = (
    "Answer with one JSON object and nothing else: no words around it, no code fence. "
    "The object must fit this JSON schema:\n{schema}"
)


class OutputModes:
    """Requests a JSON schema first. A mode that the endpoint refuses is not used again.

    In the other modes the system message contains the schema. If an endpoint refuses one schema but accepts others,
    only that schema uses the next mode.
    """

    def __init__(self, inner: OpenAIChat) -> None:
        self._inner = inner
        self._mode = OutputMode.SCHEMA
        self._of_schema: dict[str, OutputMode] = {}

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def mode(self) -> OutputMode:
        """The best mode not refused so far."""
        return self._mode

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        if request.schema is None:
            return await self._inner.complete(request, trace, on_token)
        name = digest("schema", [json.dumps(request.schema, sort_keys=True)])
        while True:
            mode = _worst(self._mode, self._of_schema.get(name, OutputMode.SCHEMA))
            sent = request if mode is OutputMode.SCHEMA else _reported_usage(request, request.schema)
            try:
                return await self._inner.complete(sent, trace, on_token, mode=mode)
            except FormatRefused as refused:
                if mode is OutputMode.TEXT:
                    raise
                if refused.schema or name in self._of_schema:
                    self._of_schema[name] = _WORSE[mode]
                else:
                    self._mode = _worst(self._mode, _WORSE[mode])  # another call may have lowered it further meanwhile


def _worst(*modes: OutputMode) -> OutputMode:
    return max(modes, key=list(OutputMode).index)


def _reported_usage(request: ChatRequest, schema: Mapping[str, Any]) -> ChatRequest:
    """Returns the request with the schema in its system message."""
    told = _TOLD.format(schema=json.dumps(schema, ensure_ascii=False))
    first, *rest = request.messages
    if first.speaker is Speaker.SYSTEM:
        messages = (replace(first, content=f"{first.content}\n\n{told}"), *rest)
    else:
        messages = (Message(speaker=Speaker.SYSTEM, content=told), *request.messages)
    return replace(request, messages=messages)
