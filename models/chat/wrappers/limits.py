"""Limits of concurrent requests, and of requests and tokens per minute."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from core.execution.limits import FairSlots, current_caller

__all__ = ["Limits", "Spent"]

_MINUTE = 60.0


@dataclass(kw_only=True)
class Spent:
    """A request of the last minute; its tokens are estimated until they are known."""

    at: float
    tokens: int


@dataclass
class _Gate:
    """The slots and lock of one event loop."""

    slots: FairSlots
    rates: asyncio.Lock = field(default_factory=asyncio.Lock)


class Limits:
    """Shared by all models of one endpoint in one process. None means no limit.

    Rates are counted over the last 60 seconds. A request larger than a minute's tokens is sent alone.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._concurrency = concurrency
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._spent: deque[Spent] = deque()
        self._waiting = 0
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, _Gate] = WeakKeyDictionary()

    async def enter(self, tokens: int) -> Spent:
        """Waits for a slot, for which callers take turns, and then for the rates; `leave` releases the slot."""
        gate = self._of_this_loop()
        self._waiting += 1
        try:
            await gate.slots.acquire(current_caller())
        finally:
            self._waiting -= 1
        try:
            async with gate.rates:  # one at a time: small requests would overtake a large request forever
                while isinstance(spent := self._try(tokens), float):
                    await self._sleep(spent)
        except BaseException:
            gate.slots.release()
            raise
        return spent

    @property
    def has_waiting(self) -> bool:
        """Whether requests wait for a slot."""
        return self._waiting > 0

    def leave(self) -> None:
        """Releases a slot."""
        self._of_this_loop().slots.release()

    def _of_this_loop(self) -> "_Gate":
        return self._gates.setdefault(asyncio.get_running_loop(), _Gate(FairSlots(self._concurrency)))

    def _try(self, tokens: int) -> Spent | float:
        """Returns the entered request, or the seconds after which there may be room."""
        with self._lock:
            now = self._clock()
            while self._spent and self._spent[0].at <= now - _MINUTE:
                self._spent.popleft()
            if not self._spent or self._has_room(tokens):
                spent = Spent(at=now, tokens=tokens)
                self._spent.append(spent)
                return spent
            return self._spent[0].at + _MINUTE - now

    def _has_room(self, tokens: int) -> bool:
        if self._requests is not None and len(self._spent) >= self._requests:
            return False
        return self._tokens is None or sum(spent.tokens for spent in self._spent) + tokens <= self._tokens
