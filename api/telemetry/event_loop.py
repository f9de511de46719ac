"""The event loop as it is watched: how late it runs, and errors of accepting connections, logged at a bounded rate."""

import asyncio
import errno
import logging
import time
from typing import Any

from app.container import Container
from core.telemetry.metrics import EVENT_LOOP_LAG, SNAPSHOT_AGE, SNAPSHOT_BYTES, SNAPSHOT_MAPPED_BYTES

__all__ = ["limit_accept_errors", "measure_event_loop", "measure_snapshots"]

_log = logging.getLogger("hopweave.api")

_TICK_SECONDS = 0.02
_SNAPSHOT_SECONDS = 5.0
_LOG_SECONDS = 10.0
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


async def measure_event_loop() -> None:
    """Measures forever by how much a timer is late, which is how long something else blocked the event loop."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(_TICK_SECONDS)
        EVENT_LOOP_LAG.record(max(0.0, time.perf_counter() - began - _TICK_SECONDS))


async def measure_snapshots(container: Container) -> None:
    """Measures forever the snapshots in the memory of this process."""
    while True:
        held = container.snapshots.describe()
        SNAPSHOT_BYTES.record(held.bytes)
        SNAPSHOT_MAPPED_BYTES.record(held.mapped_bytes)
        SNAPSHOT_AGE.record(held.age_seconds)
        await asyncio.sleep(_SNAPSHOT_SECONDS)


def limit_accept_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Logs that no connection can be accepted at most every ten seconds, with a count.

    Without file descriptors asyncio reports an error with a traceback for each place of the backlog, each second.
    """
    loop.set_exception_handler(_AcceptErrors())


class _AcceptErrors:
    """The exception handler of an event loop."""

    def __init__(self) -> None:
        self._count = 0
        self._logged_at = -_LOG_SECONDS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _EXHAUSTED or "socket" not in context:
            loop.default_exception_handler(context)
            return
        self._count += 1
        if time.monotonic() - self._logged_at >= _LOG_SECONDS:
            self._logged_at = time.monotonic()
            _log.error(
                "cannot accept connections: %s (%d times); raise the limit of open files (ulimit -n), or lower "
                "HOPWEAVE_API__MAX_CONNECTIONS",
                (error.strerror or "no resources").lower(),
                self._count,
            )
            self._count = 0
