"""The progress of reading or writing a large file: a line every few seconds on stderr."""

import time

from cli.output.console import print_status

__all__ = ["RowProgress"]

_EVERY_SECONDS = 3.0


class RowProgress:
    """Prints nothing in the first seconds, so that short tasks stay silent."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def report(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._last >= _EVERY_SECONDS:
            self._last = time.monotonic()
            print_status(f"{what} {done:,}" + ("" if total is None else f" of {total:,}"))
