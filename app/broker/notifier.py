"""The notifier: tells workers that a corpus has work, by a Celery message with the id of the corpus.

The record is the queue, so a message that is lost, repeated, late or reordered changes nothing. `OutageLog` reports an
outage of the broker, or of another service, once when it starts and once when it ends: it may last for hours.
"""

import logging
import time
from typing import Protocol

from core.errors import HopweaveError

TASK = "hopweave.work"


class Notifier(Protocol):
    """Sends messages. Its client is made on first use: importing Celery takes longer than most commands."""

    def notify(self, corpus_id: str) -> None:
        """Tells a worker that the corpus has work. Blocks for a moment. Raises `Unavailable`."""
        ...

    async def notify_soon(self, corpus_id: str) -> None:
        """Does the same beside the event loop. A failure is logged: workers also look for work themselves."""
        ...

    async def close(self) -> None:
        """Closes the connection, if there is one. The next message opens another."""
        ...


class OutageLog:
    """Knows what is unavailable now, by name. Any thread may report."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._since: dict[str, float] = {}

    def report_outage(self, name: str, error: HopweaveError) -> None:
        if name not in self._since:
            self._since[name] = time.monotonic()
            self._log.warning("%s", error)

    def report_recovery(self, name: str) -> None:
        """Does nothing if no outage was reported."""
        since = self._since.pop(name, None)
        if since is not None:
            self._log.info("the %s answers again, after %d s", name, time.monotonic() - since)
