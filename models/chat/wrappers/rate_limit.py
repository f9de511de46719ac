"""A chat model that keeps to the rate limits of its endpoint."""

from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace
from models.chat.completion_reader import estimate_tokens
from models.chat.request_timing import RequestSlot
from models.chat.wrappers.limits import Limits

__all__ = ["ChatRateLimit"]

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
