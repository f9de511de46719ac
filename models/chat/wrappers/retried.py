"""A model that is asked again where that may help."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from core.errors import ModelUnavailable
from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace
from models.chat.chat_errors import AskedToWait

__all__ = ["Retried"]

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 30.0
_PATIENCE_SECONDS = 120.0


class Retried:
    """Tries `ModelUnavailable` again, `retries` times, after pauses that double and are jittered, or as long as the
    endpoint asks for: unless that is more than two minutes, or than the trace has left. What was given to `on_token`
    cannot be taken back: an answer that has begun is not asked for again.
    """

    def __init__(
        self,
        inner: ChatModel,
        *,
        retries: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._retries = retries
        self._sleep = sleep
        self._jitter = jitter

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        begun = False

        def given(piece: str) -> None:
            nonlocal begun
            begun = True
            if on_token is not None:
                on_token(piece)

        attempt = 0
        while True:
            try:
                return await self._inner.complete(request, trace, given if on_token is not None else None)
            except ModelUnavailable as error:
                pause = self._pause(attempt, error)
                left = trace.seconds_left
                if (
                    begun
                    or attempt >= self._retries
                    or pause > _PATIENCE_SECONDS
                    or (left is not None and pause >= left)
                ):
                    if attempt == 0:
                        raise
                    raise ModelUnavailable(f"{error} (asked {attempt + 1} times)") from error
            await self._sleep(pause)
            attempt += 1

    def _pause(self, attempt: int, error: ModelUnavailable) -> float:
        """Half of it is chance, so that many who were refused together do not come back together."""
        usual = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0**attempt) * (0.5 + self._jitter() / 2)
        if isinstance(error, AskedToWait):
            return error.retry_after + self._jitter() * _FIRST_SECONDS
        return usual
