"""How much an endpoint is asked at once and by the minute."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

__all__ = ["Limits", "Spent"]

_MINUTE = 60.0


@dataclass(kw_only=True)
class Spent:
    """A call within the minute; its tokens are estimated until they are known."""

    at: float
    tokens: int


@dataclass
class _Gate:
    """What belongs to the event loop that waits for it."""

    slots: asyncio.Semaphore
    rates: asyncio.Lock = field(default_factory=asyncio.Lock)


class Limits:
    """Shared by all models of one endpoint, in one process. None: no limit.

    The rates are counted over the last sixty seconds. A call that is larger than a minute's tokens goes alone.
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
        """Wait for a slot and for the rates, in the order of coming; `leave` gives the slot back."""
        gate = self._of_this_loop()
        self._waiting += 1
        try:
            await gate.slots.acquire()
        finally:
            self._waiting -= 1
        try:
            async with gate.rates:  # one after the other: a large call would be overtaken by small ones for ever
                while isinstance(spent := self._try(tokens), float):
                    await self._sleep(spent)
        except BaseException:
            gate.slots.release()
            raise
        return spent

    @property
    def has_waiting(self) -> bool:
        """Whether calls wait for a slot."""
        return self._waiting > 0

    def leave(self) -> None:
        """Give a slot back."""
        self._of_this_loop().slots.release()

    def _of_this_loop(self) -> "_Gate":
        return self._gates.setdefault(asyncio.get_running_loop(), _Gate(asyncio.Semaphore(self._concurrency)))

    def _try(self, tokens: int) -> Spent | float:
        """The call, entered; or the seconds after which there may be room."""
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
