"""Chat models that wait: one retries transient errors, one keeps to the rate limits of its endpoint."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

from core.errors import ModelUnavailable
from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace
from models.chat.chat_errors import RetryLater
from models.chat.completion_reader import estimate_tokens
from models.chat.endpoint import Limits, RequestSlot

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 30.0
_PATIENCE_SECONDS = 120.0


class ChatRetry:
    """Retries `ModelUnavailable` up to `retries` times, after exponential, jittered pauses, or after the pause that the
    endpoint requests. Does not retry:
    - if the pause exceeds two minutes;
    - if the pause and a try as long as the last exceed the seconds left of the trace;
    - once a token was passed to `on_token`.
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
            began = time.monotonic()
            try:
                return await self._inner.complete(request, trace, given if on_token is not None else None)
            except ModelUnavailable as error:
                pause = self._pause(attempt, error)
                left, took = trace.seconds_left, time.monotonic() - began
                if (
                    begun
                    or attempt >= self._retries
                    or pause > _PATIENCE_SECONDS
                    or (left is not None and pause + took >= left)
                ):
                    if attempt == 0:
                        raise
                    raise ModelUnavailable(f"{error} (asked {attempt + 1} times)") from error
            await self._sleep(pause)
            attempt += 1

    def _pause(self, attempt: int, error: ModelUnavailable) -> float:
        """Returns the pause in seconds. Half of it is random, so that calls refused together do not retry together."""
        usual = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0**attempt) * (0.5 + self._jitter() / 2)
        if isinstance(error, RetryLater):
            return error.retry_after + self._jitter() * _FIRST_SECONDS
        return usual


_ANSWER_TOKENS = 200  # assumed until the answer reports its tokens


class ChatRateLimit:
    """Estimates tokens before a call and corrects them afterwards; a failed call costs none."""

    def __init__(self, inner: ChatModel, limits: Limits) -> None:
        self._inner = inner
        self._limits = limits

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        expected = estimate_tokens(*(message.content for message in request.messages)) + (
            _ANSWER_TOKENS if request.max_tokens is None else min(request.max_tokens, _ANSWER_TOKENS)
        )
        turn = RequestSlot(
            self._limits,
            expected,
            lambda: trace.check(request.role),  # other calls may use up the budget while this one waits
            early=trace.budget.tokens is None,
        )
        cost = 0
        with turn.hold():
            try:
                completion = await self._inner.complete(request, trace, on_token)
                cost = completion.prompt_tokens + completion.completion_tokens
            finally:
                turn.cost(cost)
        return completion
