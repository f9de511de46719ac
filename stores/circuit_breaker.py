"""A circuit breaker for a server: after an outage one caller probes it for all of them."""

import threading
import time
from collections.abc import Callable

from core.errors import HopweaveError

_REMEMBERED_SECONDS = 1.0


class CircuitBreaker:
    """Lets calls pass once `probe` has succeeded. Until then one of the callers probes, and all share the result.

    A failure is remembered for a second, so that callers that come late, because all threads waited, do not wait again.
    """

    def __init__(self, probe: Callable[[], None]) -> None:
        self._probe = probe
        self._lock = threading.Lock()
        self._is_closed = False
        self._running: threading.Event | None = None
        self._failure: HopweaveError | None = None
        self._failed_at = 0.0

    def check(self) -> None:
        """Returns if the server was reached; probes it first if the breaker is open. Raises what `probe` raises."""
        while not self._is_closed:
            with self._lock:
                if self._failure is not None and time.monotonic() - self._failed_at < _REMEMBERED_SECONDS:
                    raise type(self._failure)(str(self._failure)) from self._failure
                running = self._running
                if running is None:
                    started = self._running = threading.Event()
            if running is None:
                self._run(started)
            else:
                running.wait()

    def open(self) -> None:
        """Records that the server was lost: the next `check` probes it."""
        self._is_closed = False

    def _run(self, done: threading.Event) -> None:
        try:
            self._probe()
            self._failure, self._is_closed = None, True
        except HopweaveError as error:
            self._failure, self._failed_at = error, time.monotonic()
            raise
        finally:
            with self._lock:
                self._running = None
            done.set()
