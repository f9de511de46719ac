"""Rate-limit slots and timeouts that cover only the time on the wire.

A call is prepared before it waits for a slot, and the slot may end with the last byte of its answer. So the next
request is sent before this answer is parsed, and a limit of eight requests is used in full. The client prepares
requests and reads answers itself, so two of its hooks find the slot and timer of the current task in context variables.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from core.errors import BudgetExhausted
from models.chat.wrappers.limits import Limits, Spent

__all__ = ["NeverSent", "RequestSlot", "on_request", "on_response", "outside_calls", "start_on_send"]

_READ_LATER = 0.01
"""Seconds for which an answer is not parsed while other calls wait for a slot: answers come in bunches, prepared
requests leave within a millisecond, and parsing an answer takes several."""

_TURN: ContextVar["RequestSlot | None"] = ContextVar("turn", default=None)
_TIMER: ContextVar["tuple[asyncio.Timeout, float] | None"] = ContextVar("timer", default=None)


class NeverSent(BudgetExhausted):
    """Other calls used up the budget while this one waited for a slot."""


class RequestSlot:
    """The rate-limit slot of one call, which may send several requests. Within `hold` the requests of the task use it.

    `check` is called last, before a request leaves. With `early` the slot ends with the answer's last byte, otherwise
    with `hold`, so that the next check knows what this answer cost.
    """

    def __init__(self, limits: Limits, tokens: int, check: Callable[[], None], *, early: bool) -> None:
        self._limits = limits
        self._tokens = tokens
        self._check = check
        self.early = early
        self._spent: Spent | None = None
        self._on = False

    @contextmanager
    def hold(self) -> Iterator[None]:
        before = _TURN.set(self)
        try:
            yield
        finally:
            _TURN.reset(before)
            self.end()

    async def begin(self) -> None:
        if self._on:  # another request of the same call
            return
        first = self._spent is None
        self.cost(0)
        self._spent = await self._limits.enter(self._tokens)
        self._on = True
        try:
            self._check()
        except BudgetExhausted as error:
            if not first:
                raise
            raise NeverSent(str(error)) from error

    def end(self) -> None:
        if self._on:
            self._on = False
            self._limits.leave()

    @property
    def others_wait(self) -> bool:
        """Whether other calls wait for a slot."""
        return self._limits.has_waiting

    def cost(self, tokens: int) -> None:
        """Replaces the estimated tokens of the last request."""
        if self._spent is not None:
            self._spent.tokens = tokens


@contextmanager
def start_on_send(timer: asyncio.Timeout, seconds: float) -> Iterator[None]:
    """Starts `timer` when a request is sent, so that waiting for a slot does not count."""
    before = _TIMER.set((timer, seconds))
    try:
        yield
    finally:
        _TIMER.reset(before)


@contextmanager
def outside_calls() -> Iterator[None]:
    """Within it, requests take no slot and start no timer: they ask an endpoint about itself."""
    turn, timer = _TURN.set(None), _TIMER.set(None)
    try:
        yield
    finally:
        _TIMER.reset(timer)
        _TURN.reset(turn)


async def on_request(request: Any) -> None:  # noqa: ARG001  # the client's hook
    """Called by the client before a request is sent."""
    turn, timer = _TURN.get(), _TIMER.get()
    if turn is not None:
        await turn.begin()
    if timer is not None:
        timer[0].reschedule(asyncio.get_running_loop().time() + timer[1])


async def on_response(response: Any) -> None:
    """Called by the client when an answer starts; the slot ends when the answer's stream is closed."""
    turn = _TURN.get()
    if turn is None or not turn.early:
        return
    close = response.stream.aclose

    async def close_and_end() -> None:
        others_wait = turn.others_wait
        try:
            await close()
        finally:
            turn.end()
        if others_wait:
            await asyncio.sleep(_READ_LATER)

    response.stream.aclose = close_and_end
