"""`Progress`: sends what a tool is doing to the client, in order and beside the work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

__all__ = ["Progress", "Send", "sending_progress"]

Send = Callable[[float, float | None, str], Awaitable[None]]
"""Sends how much is done, of how much (None: unknown), and a sentence."""

_MOST_WAITING = 100


class Progress:
    """A call is cheap and never waits: the listeners of a trace are plain functions.

    The protocol wants numbers that grow. `done` is used where it does, else the number of the message.
    """

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[tuple[float, float | None, str]] = asyncio.Queue(_MOST_WAITING)
        self._last = 0.0

    def __call__(self, text: str, *, done: float | None = None, total: float | None = None) -> None:
        """Reports a sentence. A client that reads too slowly misses some."""
        if done is not None and done <= self._last:
            return
        self._last = self._last + 1 if done is None else done
        with contextlib.suppress(asyncio.QueueFull):
            self.waiting.put_nowait((self._last, total, text))


@contextlib.asynccontextmanager
async def sending_progress(send: Send) -> AsyncIterator[Progress]:
    """Yields a `Progress` whose reports are sent while the block runs, and all of them before it ends."""
    progress = Progress()

    async def pass_on() -> None:
        while True:
            await send(*await progress.waiting.get())
            progress.waiting.task_done()

    task = asyncio.create_task(pass_on(), name="sending progress")
    try:
        yield progress
        joining = asyncio.create_task(progress.waiting.join())
        await asyncio.wait({joining, task}, return_when=asyncio.FIRST_COMPLETED)
        joining.cancel()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # a client that is gone reads no progress
