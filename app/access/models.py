"""Language models as the holder of a key calls them, and what the holder may still use in this minute.

`api` implements the `Meter` over all processes.
"""

from typing import Protocol

from core.ports.chat import ChatModel, ChatModels, ChatRequest, Completion, OnToken
from core.trace import Trace

__all__ = ["NO_METER", "Meter", "MeteredModels"]


class Meter(Protocol):
    """Counts what one request uses. A method raises `RateLimited` before the limit of its kind is exceeded."""

    async def admit_bytes(self, count: int) -> None:
        """Counts bytes of documents that are about to be submitted."""
        ...

    async def check_tokens(self) -> None:
        """Raises if no tokens are left. What a question takes is known only afterwards."""
        ...

    def add_tokens(self, count: int) -> None:
        """Counts tokens that models have read and written."""
        ...


class _NoMeter:
    """Of callers without limits."""

    async def admit_bytes(self, count: int) -> None: ...

    async def check_tokens(self) -> None: ...

    def add_tokens(self, count: int) -> None: ...


NO_METER: Meter = _NoMeter()


class MeteredModels:
    """Implements `core.ports.chat.ChatModels` for one request.

    Its first call, also by a searcher, raises `RateLimited` if the key may use no more tokens in this minute. A request
    that has begun is finished.
    """

    def __init__(self, models: ChatModels, meter: Meter) -> None:
        self._models = models
        self._meter = meter
        self._is_admitted = False

    def of(self, role: str) -> ChatModel:
        return _MeteredModel(self._models.of(role), self)

    def is_small(self, role: str) -> bool:
        return self._models.is_small(role)

    async def delete_corpus(self, corpus_id: str) -> None:
        await self._models.delete_corpus(corpus_id)

    async def close(self) -> None:
        """Does nothing: the models belong to the process, not to one request."""

    async def admit(self) -> None:
        if not self._is_admitted:
            await self._meter.check_tokens()
            self._is_admitted = True


class _MeteredModel:
    def __init__(self, model: ChatModel, models: MeteredModels) -> None:
        self._model = model
        self._models = models

    @property
    def model(self) -> str:
        return self._model.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        await self._models.admit()
        return await self._model.complete(request, trace, on_token)
