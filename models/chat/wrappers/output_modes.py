"""A chat model that requests JSON in the best way that its endpoint supports."""

import json
from dataclasses import replace
from itertools import pairwise

from core.errors import HopweaveError
from core.ids import digest
from core.ports.chat import ChatRequest, Completion, Message, OnToken, Speaker
from core.trace import Trace
from models.chat.chat_errors import FormatRefused, ServerFault, Unexplained
from models.chat.openai_chat import OpenAIChat, OutputMode

_MODES = list(OutputMode)
_FAULTS_OF_A_REFUSAL = 2
_WORSE = dict(pairwise(_MODES))
_TOLD = (
    "Answer with one JSON object and nothing else: no words around it, no code fence. "
    "The object must fit this JSON schema:\n{schema}"
)


class OutputModes:
    """Requests a JSON schema first. A mode that the endpoint refuses is not used again.

    In the other modes the system message contains the schema. If an endpoint refuses one schema but accepts others,
    only that schema uses the next mode.

    A status of 5xx that names nothing, or a 400 in unknown words, may be a refusal, too. Until a mode has been answered
    once, a call that met such an error is repeated without any mode. If the repeated call is answered, the next mode is
    used; after a 5xx, which may be temporary, only once this has happened to two calls.
    """

    def __init__(self, inner: OpenAIChat) -> None:
        self._inner = inner
        self._mode = OutputMode.SCHEMA
        self._of_schema: dict[str, OutputMode] = {}
        self._is_known = False
        self._faults = 0

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def endpoint_model(self) -> OpenAIChat:
        """The model that is asked."""
        return self._inner

    @property
    def mode(self) -> OutputMode:
        """The best mode not refused so far."""
        return self._mode

    @property
    def is_known(self) -> bool:
        """Whether the mode has been answered. If the server fails without a word, only further calls tell."""
        return self._is_known

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        if request.schema is None:
            return await self._inner.complete(request, trace, on_token)
        name = digest("schema", [json.dumps(request.schema, sort_keys=True)])
        while True:
            mode = _worst(self._mode, self._of_schema.get(name, OutputMode.SCHEMA))
            try:
                return await self._send(request, mode, trace, on_token)
            except FormatRefused as refused:
                if mode is OutputMode.TEXT:
                    raise
                if refused.schema or name in self._of_schema:
                    self._of_schema[name] = _WORSE[mode]
                else:
                    self._lower(mode)

    async def _send(self, request: ChatRequest, mode: OutputMode, trace: Trace, on_token: OnToken | None) -> Completion:
        sent = request if mode is OutputMode.SCHEMA else _with_schema(request)
        try:
            completion = await self._inner.complete(sent, trace, on_token, mode=mode)
        except (ServerFault, Unexplained) as fault:
            if self._is_known or mode is OutputMode.TEXT:
                raise
            return await self._repeat(request, mode, fault, trace, on_token)
        self._is_known = self._is_known or mode is self._mode
        return completion

    async def _repeat(
        self,
        request: ChatRequest,
        mode: OutputMode,
        fault: ServerFault | Unexplained,
        trace: Trace,
        on_token: OnToken | None,
    ) -> Completion:
        """Sends a request without a mode, and notes it as a refusal of the mode if it is answered."""
        try:
            completion = await self._inner.complete(_with_schema(request), trace, on_token, mode=OutputMode.TEXT)
        except HopweaveError:
            raise fault from None
        self._faults += 1
        if self._faults == _FAULTS_OF_A_REFUSAL or isinstance(fault, Unexplained):
            self._lower(mode)
        return completion

    def _lower(self, mode: OutputMode) -> None:
        """Uses the mode after `mode`, unless another call has lowered it further meanwhile."""
        self._mode = _worst(self._mode, _WORSE[mode])
        self._is_known, self._faults = False, 0


def _worst(*modes: OutputMode) -> OutputMode:
    return max(modes, key=_MODES.index)


def _with_schema(request: ChatRequest) -> ChatRequest:
    """Returns the request with its schema in its system message."""
    told = _TOLD.format(schema=json.dumps(request.schema, ensure_ascii=False))
    first, *rest = request.messages
    if first.speaker is Speaker.SYSTEM:
        messages = (replace(first, content=f"{first.content}\n\n{told}"), *rest)
    else:
        messages = (Message(speaker=Speaker.SYSTEM, content=told), *request.messages)
    return replace(request, messages=messages)
