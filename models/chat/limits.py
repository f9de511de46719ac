"""How much an endpoint is asked at once and by the minute."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

__all__ = ["Limits", "Spent"]

_MINUTE = 60.0


@dataclass(kw_only=True)
class Spent:
    """A call within the minute; its tokens are estimated until they are known."""

    at: float
    tokens: int


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
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @asynccontextmanager
    async def admitted(self, tokens: int) -> AsyncIterator[Spent]:
        """Wait for a slot and for the rates, in the order of coming; the slot is given back at the end of the block."""
        loop = asyncio.get_running_loop()
        if loop not in self._slots:  # a semaphore belongs to the event loop that waits for it
            self._slots[loop] = asyncio.Semaphore(self._concurrency)
        async with self._slots[loop]:
            while isinstance(spent := self._try(tokens), float):
                await self._sleep(spent)
            yield spent

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
