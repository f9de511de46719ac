"""Saying once that something is away, and once that it is back: an outage may last for hours."""

import logging
import time

from core.errors import HopweaveError

__all__ = ["Outages"]


class Outages:
    """What is away now, by name; any thread may tell."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._since: dict[str, float] = {}

    def began(self, name: str, error: HopweaveError) -> None:
        if name not in self._since:
            self._since[name] = time.monotonic()
            self._log.warning("%s", error)

    def ended(self, name: str) -> None:
        since = self._since.pop(name, None)
        if since is not None:
            self._log.info("the %s answers again, after %d s", name, time.monotonic() - since)
