"""A lane: one thread in which the files of several callers are parsed or drawn, one after the other."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from core.errors import RateLimited, Unavailable
from core.execution.limits import FairSlots

__all__ = ["Lane", "LaneLimits", "RunInLane"]

T = TypeVar("T")
RunInLane = Callable[..., Awaitable[Any]]
"""Runs a function with its arguments in the thread of a lane."""

_STOPPING = "the server is stopping"
_SECONDS_BETWEEN_INTERRUPTS = 0.2


@dataclass(frozen=True, kw_only=True)
class LaneLimits:
    """How many calls are admitted at a time, in all and of one caller. `what` names them in messages."""

    what: str
    all: int
    of_one: int


class Lane:
    """Callers take turns, so that a caller with many calls makes others wait for at most one of them.

    A call that is cancelled while it waits is not carried out. If it runs already, `interrupt` ends its work.
    """

    def __init__(self, name: str, limits: LaneLimits, interrupt: Callable[[], None]) -> None:
        self._limits = limits
        self._interrupt = interrupt
        self._thread = ThreadPoolExecutor(1, name)
        self._admitted: dict[str, int] = {}
        self._turns = FairSlots(1)
        self._is_closed = False

    @property
    def admitted(self) -> int:
        """The number of calls that wait or run."""
        return sum(self._admitted.values())

    @asynccontextmanager
    async def admit(self, caller: str) -> AsyncIterator[None]:
        """Admits a call, which may take any number of turns. Raises `RateLimited` if too many are admitted already."""
        if self._is_closed:
            raise Unavailable(_STOPPING)
        own = self._admitted.get(caller, 0)
        if own >= self._limits.of_one or self.admitted >= self._limits.all:
            raise RateLimited(
                f"{own or 'too many'} {self._limits.what} are waited for already; ask for fewer at a time"
            )
        self._admitted[caller] = own + 1
        try:
            yield
        finally:
            self._admitted[caller] -= 1
            if not self._admitted[caller]:
                del self._admitted[caller]

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[RunInLane]:
        """Waits for the turn of an admitted call, and yields what runs functions in the thread."""
        await self._turns.acquire(caller)
        running: list[asyncio.Future[Any]] = []

        async def run(function: Callable[..., T], *arguments: object) -> T:
            loop = asyncio.get_running_loop()
            running.append(future := loop.run_in_executor(self._thread, function, *arguments))
            return await asyncio.shield(future)

        try:
            yield run
        finally:
            self._end_turn(running[-1] if running else None)

    def close(self) -> None:
        """Refuses calls that still wait. What runs goes on to its end."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._turns.fail_waiting(lambda: Unavailable(_STOPPING))

    def _end_turn(self, last: "asyncio.Future[Any] | None") -> None:
        """Passes the turn on when nothing runs in the thread any more."""
        if last is None or last.done():
            self._turns.release()
            return
        last.add_done_callback(self._end_abandoned)
        self._interrupt_until_done(last)

    def _interrupt_until_done(self, running: "asyncio.Future[Any]") -> None:
        """The work may be between two steps that can be interrupted."""
        if not running.done():
            self._interrupt()
            loop = asyncio.get_running_loop()
            loop.call_later(_SECONDS_BETWEEN_INTERRUPTS, self._interrupt_until_done, running)

    def _end_abandoned(self, ended: "asyncio.Future[Any]") -> None:
        if not ended.cancelled():
            ended.exception()  # nobody waits for it
        self._turns.release()
