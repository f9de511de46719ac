"""How far reading and writing a large file is: a line now and then on stderr."""

import time

from cli.output.console import say

__all__ = ["RowsDone"]

_EVERY_SECONDS = 3.0


class RowsDone:
    """Nothing is said of what takes less than a few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def report(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._last >= _EVERY_SECONDS:
            self._last = time.monotonic()
            say(f"{what} {done:,}" + ("" if total is None else f" of {total:,}"))
