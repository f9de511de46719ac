"""Limits of work: the processor's time for one document, and how much runs at once, for which callers take turns."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.errors import LoadFailed

_current: ContextVar["WorkLimit | None"] = ContextVar("work_limit", default=None)


class WorkLimit:
    """The time of the processor that one document may take, in seconds, and what it has taken. `name` is its key.

    It counts the time of the thread that computes: other processes and documents do not shorten it.
    """

    def __init__(self, name: str, seconds: float, setting: str) -> None:
        self._name = name
        self._seconds = seconds
        self._setting = setting
        self._spent = 0.0
        self._is_ended = False
        self._started: float | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time of this thread while the block lasts. Raises `LoadFailed` at its end if it was too long."""
        token = _current.set(self)
        self._started = time.thread_time()
        try:
            yield
            self.check()
        finally:
            self._spent += time.thread_time() - self._started
            self._started = None
            _current.reset(token)

    def end(self) -> None:
        """Ends the work at its next check: nobody waits for it any more. May be called from another thread."""
        self._is_ended = True

    def check(self) -> None:
        """Raises `LoadFailed` if the document has taken more than its time, or is not waited for."""
        if self._is_ended:
            raise LoadFailed(f"{self._name!r} is not waited for any more")
        running = 0.0 if self._started is None else time.thread_time() - self._started
        if self._spent + running > self._seconds:
            raise LoadFailed(
                f"{self._name!r} takes more than {self._seconds:g} s of the processor until it is cut into passages "
                f"and searched for names, far more than texts of its size take; split it, or raise {self._setting}"
            )


def check_work() -> None:
    """Raises `LoadFailed` if the document that this thread works on has taken more than its time."""
    limit = _current.get()
    if limit is not None:
        limit.check()


_CALLER: ContextVar[str] = ContextVar("caller", default="")


def set_current_caller(caller: str) -> None:
    """Sets who has called, for this task and the tasks that it starts: the id of a key."""
    _CALLER.set(caller)


def current_caller() -> str:
    """Returns who has called, or ''."""
    return _CALLER.get()


class FairSlots:
    """`count` slots. If no slot is free, callers wait and take turns: a caller that waits for many slots delays each
    other caller by at most one slot. Belongs to one event loop.
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
        """Passes a slot to the first waiting task of the caller whose last turn is longest ago."""
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
