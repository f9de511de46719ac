"""A chat model with the settings of one role."""

from dataclasses import replace

from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace

__all__ = ["RoleParameters"]


class RoleParameters:
    """Replaces the request's temperature by the role's, and sets the role's limits if the request has none."""

    def __init__(
        self, inner: ChatModel, *, temperature: float | None, max_tokens: int | None, max_characters: int | None = None
    ) -> None:
        self._inner = inner
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._max_characters = max_characters

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        request = replace(
            request,
            temperature=request.temperature if self._temperature is None else self._temperature,
            max_tokens=self._max_tokens if request.max_tokens is None else request.max_tokens,
            max_characters=self._max_characters if request.max_characters is None else request.max_characters,
        )
        return await self._inner.complete(request, trace, on_token)
