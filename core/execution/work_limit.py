"""The limit of the processor's time for one document, which long computations check while they run.

Open it to add a computation over a whole document: its loop calls `check_work` now and then.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.errors import LoadFailed

__all__ = ["WorkLimit", "check_work"]

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
