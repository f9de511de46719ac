"""A model with what the settings say for one role."""

from dataclasses import replace

from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace

__all__ = ["ForRole"]


class ForRole:
    """A role's temperature stands in for the request's; its number of tokens for a request that has none."""

    def __init__(self, inner: ChatModel, *, temperature: float | None, max_tokens: int | None) -> None:
        self._inner = inner
        self._temperature = temperature
        self._max_tokens = max_tokens

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        request = replace(
            request,
            temperature=request.temperature if self._temperature is None else self._temperature,
            max_tokens=self._max_tokens if request.max_tokens is None else request.max_tokens,
        )
        return await self._inner.complete(request, trace, on_token)
