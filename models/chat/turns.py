"""Turns on the wire: a call is prepared before it waits for its turn, and its turn may end with its answer's last byte.

So the next one is on its way before this answer is read, and a model that may be asked eight times at once is. The
endpoint's client prepares requests and reads answers out of our sight; two hooks tell it whose turn it is.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from core.errors import BudgetExhausted
from models.chat.wrappers.limits import Limits, Spent

__all__ = ["NeverSent", "Turn", "answered", "sending", "timed"]

_READ_LATER = 0.01
"""Seconds for which an answer is left alone while others wait for their turn: answers come in bunches, and what is
prepared leaves within a millisecond, while reading an answer and preparing another request take some."""

_TURN: ContextVar["Turn | None"] = ContextVar("turn", default=None)
_TIMER: ContextVar["tuple[asyncio.Timeout, float] | None"] = ContextVar("timer", default=None)


class NeverSent(BudgetExhausted):
    """The budget was used up by others while this call waited for its turn."""


class Turn:
    """A call's turns: more than one where the endpoint has to be asked in another way. Within `taken` they are those
    of the requests that the task sends.

    `check` is asked last, before a request leaves. Without `early` the turn ends with `taken`: for whom the next check
    has to know what this answer cost.
    """

    def __init__(self, limits: Limits, tokens: int, check: Callable[[], None], *, early: bool) -> None:
        self._limits = limits
        self._tokens = tokens
        self._check = check
        self.early = early
        self._spent: Spent | None = None
        self._on = False

    @contextmanager
    def taken(self) -> Iterator[None]:
        before = _TURN.set(self)
        try:
            yield
        finally:
            _TURN.reset(before)
            self.end()

    async def begin(self) -> None:
        if self._on:  # asked in another way, in the same turn
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
        """Whether others wait for theirs."""
        return self._limits.has_waiting

    def cost(self, tokens: int) -> None:
        """Correct what was estimated of the last request."""
        if self._spent is not None:
            self._spent.tokens = tokens


@contextmanager
def timed(timer: asyncio.Timeout, seconds: float) -> Iterator[None]:
    """Start `timer` when a request leaves: who waits for his turn does not use up his time."""
    before = _TIMER.set((timer, seconds))
    try:
        yield
    finally:
        _TIMER.reset(before)


async def sending(request: Any) -> None:  # noqa: ARG001  # the client's hook
    """Before a request leaves."""
    turn, timer = _TURN.get(), _TIMER.get()
    if turn is not None:
        await turn.begin()
    if timer is not None:
        timer[0].reschedule(asyncio.get_running_loop().time() + timer[1])


async def answered(response: Any) -> None:
    """When an answer begins: its turn ends with its bytes."""
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
