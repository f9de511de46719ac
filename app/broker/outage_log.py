"""A log of outages that reports each one once when it starts and once when it ends: an outage may last for hours."""

import logging
import time

from core.errors import HopweaveError

__all__ = ["OutageLog"]


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
