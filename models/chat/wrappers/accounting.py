"""A chat model whose calls are limited by the trace's budget and counted in its usage."""

import asyncio
import time

from core.errors import BudgetExhausted, HopweaveError
from core.events import CallEvent
from core.ports.chat import ChatModel, ChatRequest, Completion, OnToken
from core.telemetry.metrics import LLM_ERRORS, LLM_TOKENS
from core.telemetry.spans import SpanKind, SpanValue, span
from core.trace import Trace
from models.chat.endpoint import NeverSent


class ChatAccounting:
    """Counts failed and cancelled calls, but no call that the budget stopped before it was sent. Cancels a call when
    the trace has no seconds left.
    """

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        if request.given is not None:  # costs nothing: another call was counted, or none is made
            return request.given()
        trace.admit(request.role)
        row = trace.usage.row(request.role, self.model)
        row.calls += 1
        began = time.monotonic()
        completion, sent = None, True
        try:
            completion = await self._traced(request, trace, on_token)
        except NeverSent:
            sent = False
            row.calls -= 1
            trace.withdraw()
            raise
        except HopweaveError:
            LLM_ERRORS.record(1, role=request.role, model=self.model)
            trace.emit(call_event(request, self.model, time.monotonic() - began))
            raise
        finally:
            row.seconds += time.monotonic() - began
            row.failed += sent and completion is None
        row.prompt_tokens += completion.prompt_tokens
        row.completion_tokens += completion.completion_tokens
        row.estimated |= completion.estimated
        LLM_TOKENS.record(completion.prompt_tokens, role=request.role, model=self.model, type="prompt")
        LLM_TOKENS.record(completion.completion_tokens, role=request.role, model=self.model, type="completion")
        trace.emit(call_event(request, self.model, time.monotonic() - began, completion))
        return completion

    async def _traced(self, request: ChatRequest, trace: Trace, on_token: OnToken | None) -> Completion:
        """Makes the call within a span with the attributes of OpenTelemetry's conventions for generative AI."""
        attributes: dict[str, SpanValue] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",  # the protocol; compatible servers have no name of their own
            "gen_ai.request.model": self.model,
            "gen_ai.request.temperature": request.temperature,
            "hopweave.role": request.role,
        }
        if request.max_tokens is not None:
            attributes["gen_ai.request.max_tokens"] = request.max_tokens
        with span(f"chat {self.model}", attributes, kind=SpanKind.CLIENT) as begun:
            completion = await self._in_time(request, trace, on_token)
            begun.set(
                {
                    "gen_ai.response.model": completion.model,
                    "gen_ai.usage.input_tokens": completion.prompt_tokens,
                    "gen_ai.usage.output_tokens": completion.completion_tokens,
                    "gen_ai.response.finish_reasons": ("length" if completion.cut else "stop",),
                }
            )
            return completion

    async def _in_time(self, request: ChatRequest, trace: Trace, on_token: OnToken | None) -> Completion:
        began, limit = time.monotonic(), asyncio.timeout(trace.seconds_left)
        try:
            async with limit:
                return await self._inner.complete(request, trace, on_token)
        except TimeoutError as error:
            if not limit.expired():
                raise
            trace.exhausted = True
            raise BudgetExhausted(
                f"{trace.budget.seconds:g} seconds were allowed and are over; a call of {request.role!r} was ended, "
                f"to which {self.model} gave no whole answer in {time.monotonic() - began:.1f} s"
            ) from error


def call_event(
    request: ChatRequest, model: str, seconds: float, completion: Completion | None = None, *, cached: bool = False
) -> CallEvent:
    """Returns the event of a finished call. Its token counts are 0 if the completion is missing or cached."""
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
