"""`FairSlots`: a limit of what runs at once, for which callers take turns; and who calls."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["FairSlots", "current_caller", "set_current_caller"]

_CALLER: ContextVar[str] = ContextVar("caller", default="")


def set_current_caller(caller: str) -> None:
    """Sets who has called, for this task and those that it starts: the id of a key."""
    _CALLER.set(caller)


def current_caller() -> str:
    """Returns who has called, or ''."""
    return _CALLER.get()


class FairSlots:
    """As many slots as `count`. Whoever finds none free waits: callers take turns, so that one who waits for many slots
    makes nobody else wait for more than one of them. Belongs to one event loop.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def acquire(self, caller: str) -> None:
        """Takes a slot. Raises what `fail_waiting` makes."""
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:  # it was its turn already
                self.release()
            raise

    def release(self) -> None:
        """Passes a slot to the first that waits of the caller whose last turn is longest ago."""
        while self._waiting:
            caller, queue = self._waiting.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._waiting[caller] = queue
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def fail_waiting(self, make_error: Callable[[], Exception]) -> None:
        """Ends the waiting of all with an error."""
        for queue in self._waiting.values():
            for turn in queue:
                if not turn.done():
                    turn.set_exception(make_error())
        self._waiting.clear()
