"""A model that waits for its turn."""

from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace
from models.chat.draft import estimated_tokens
from models.chat.turns import Turn
from models.chat.wrappers.limits import Limits

__all__ = ["Limited"]

_ANSWER_TOKENS = 200  # until the answer tells


class Limited:
    """Tokens are estimated before a call and corrected after; a call that fails has cost none."""

    def __init__(self, inner: ChatModel, limits: Limits) -> None:
        self._inner = inner
        self._limits = limits

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        expected = estimated_tokens(*(message.content for message in request.messages)) + (
            _ANSWER_TOKENS if request.max_tokens is None else min(request.max_tokens, _ANSWER_TOKENS)
        )
        turn = Turn(
            self._limits,
            expected,
            lambda: trace.check(request.role),  # others may have used up the budget while this call waited
            early=trace.budget.tokens is None,
        )
        cost = 0
        with turn.taken():
            try:
                completion = await self._inner.complete(request, trace, on_token)
                cost = completion.prompt_tokens + completion.completion_tokens
            finally:
                turn.cost(cost)
        return completion
