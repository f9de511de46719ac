"""`Gate`: admits runs of a question side by side, as many as the budget of a verification has room for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.trace import Trace

__all__ = ["Gate"]


class Gate:
    """Admits at most `at_once` runs at the same time. Each is expected to take so many calls and tokens.

    A run waits while others may use up what it needs. It is refused if the budget has no room for it when it would be
    the only one: a run that ends without an answer tells nothing, and costs as much.
    """

    def __init__(self, trace: Trace, *, at_once: int, calls: int, tokens: int) -> None:
        self._trace = trace
        self._at_once = at_once
        self._calls = calls
        self._tokens = tokens
        self._running = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[bool]:
        """Waits for a place and yields whether there is one; False if the budget is used up."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._running or self._has_room())
            admitted = self._has_room()
            self._running += admitted
        try:
            yield admitted
        finally:
            async with self._changed:
                self._running -= admitted
                self._changed.notify_all()

    def _has_room(self) -> bool:
        runs = self._running + 1
        calls, tokens = self._trace.calls_left, self._trace.tokens_left
        return (
            runs <= self._at_once
            and self._trace.seconds_left != 0.0
            and (calls is None or runs * self._calls <= calls)
            and (tokens is None or runs * self._tokens <= tokens)
        )
