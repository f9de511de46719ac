"""A chat model whose calls are limited by the trace's budget and counted in its usage."""

import asyncio
import time

from core.errors import BudgetExhausted, HopweaveError
from core.events import CallEvent
from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.trace import Trace
from models.chat.request_timing import NeverSent

__all__ = ["ChatAccounting", "call_event"]


class ChatAccounting:
    """Counts failed and cancelled calls, but not one that the budget stopped before it was sent. Cancels a call when
    the trace has no seconds left.
    """

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        trace.admit(request.role)
        row = trace.usage.row(request.role, self.model)
        row.calls += 1
        began = time.monotonic()
        completion, sent = None, True
        try:
            completion = await self._in_time(request, trace, on_token)
        except NeverSent:
            sent = False
            row.calls -= 1
            trace.withdraw()
            raise
        except HopweaveError:
            trace.emit(call_event(request, self.model, time.monotonic() - began))
            raise
        finally:
            row.seconds += time.monotonic() - began
            row.failed += sent and completion is None
        row.prompt_tokens += completion.prompt_tokens
        row.completion_tokens += completion.completion_tokens
        row.estimated |= completion.estimated
        trace.emit(call_event(request, self.model, time.monotonic() - began, completion))
        return completion

    async def _in_time(self, request: ChatRequest, trace: Trace, on_token: OnToken | None) -> Completion:
        limit = asyncio.timeout(trace.seconds_left)
        try:
            async with limit:
                return await self._inner.complete(request, trace, on_token)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise BudgetExhausted(
                f"{trace.budget.seconds:g} seconds were allowed and are over; a call of {request.role!r} was ended"
            ) from error


def call_event(
    request: ChatRequest, model: str, seconds: float, completion: Completion | None = None, *, cached: bool = False
) -> CallEvent:
    """Returns the event of a finished call. Without a completion, or with a cached one, its token counts are 0."""
    paid = None if cached else completion
    return CallEvent(
        action=request.role,
        model=model,
        seconds=seconds,
        prompt_tokens=paid.prompt_tokens if paid else 0,
        completion_tokens=paid.completion_tokens if paid else 0,
        cached=cached,
        failed=completion is None,
        step=request.labels.get("step", ""),
    )
