"""One look at a server for all who come at once, when it was not reached yet, or was lost."""

import threading
import time
from collections.abc import Callable

from core.errors import HopweaveError

__all__ = ["Gate"]

_REMEMBERED_SECONDS = 1.0


class Gate:
    """Open once `check` was passed. While it is shut, one of those who come tries it, and all share what he gets.

    A failure is remembered for a second: whoever comes late, because all threads waited, does not wait again.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._open = False
        self._trying: threading.Event | None = None
        self._failure: HopweaveError | None = None
        self._failed_at = 0.0

    def enter(self) -> None:
        """Raises what `check` raises."""
        while not self._open:
            with self._lock:
                if self._failure is not None and time.monotonic() - self._failed_at < _REMEMBERED_SECONDS:
                    raise type(self._failure)(str(self._failure)) from self._failure
                other = self._trying
                if other is None:
                    mine = self._trying = threading.Event()
            if other is None:
                self._try(mine)
            else:
                other.wait()

    def shut(self) -> None:
        """The server was lost: who comes next looks whether it is there."""
        self._open = False

    def _try(self, done: threading.Event) -> None:
        try:
            self._check()
            self._failure, self._open = None, True
        except HopweaveError as error:
            self._failure, self._failed_at = error, time.monotonic()
            raise
        finally:
            with self._lock:
                self._trying = None
            done.set()
