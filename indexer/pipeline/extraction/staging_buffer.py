"""A buffer of extractions that are to be staged, so that what is paid for is soon stored."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from core.errors import Unavailable
from core.ports.record import Claim, JobUsage, StagedExtraction, Staging
from indexer.pipeline.extraction.accounting import Accounting

__all__ = ["StagingBuffer"]

_MAX_EXTRACTIONS = 16
_MAX_SECONDS = 1.0


class StagingBuffer:
    """Collects extractions, and stages them together with the usage of their jobs within about a second.

    `on_fenced` is called with the claims that the record has fenced.
    """

    def __init__(self, staging: Staging, accounting: Accounting, on_fenced: Callable[[Sequence[Claim]], None]) -> None:
        self._staging = staging
        self._on_fenced = on_fenced
        self._accounting = accounting
        self._pending: list[StagedExtraction] = []
        self._full = asyncio.Event()
        self._writing = asyncio.Lock()

    def add(self, staged: StagedExtraction) -> None:
        self._pending.append(staged)
        if len(self._pending) >= _MAX_EXTRACTIONS:
            self._full.set()

    async def flush(self) -> None:
        """Stages everything in the buffer. What cannot be stored now stays in the buffer. Raises `Unavailable`."""
        async with self._writing:
            self._full.clear()
            pending, spent = list(self._pending), self._accounting.unrecorded()
            if not (pending or spent):
                return
            task = asyncio.create_task(self._stage(pending, spent))
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:  # without its end, usage that the record has would be reported twice
                await asyncio.wait([task])
                raise

    async def _stage(self, pending: list[StagedExtraction], spent: list[JobUsage]) -> None:
        fenced = await self._staging.stage(pending, spent)
        del self._pending[: len(pending)]
        self._accounting.mark_recorded(spent)
        self._on_fenced(fenced)

    @asynccontextmanager
    async def periodic_flush(self) -> AsyncIterator[None]:
        """Flushes about once a second, or when the buffer is full, while the block lasts."""
        task = asyncio.create_task(self._flush_forever())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _flush_forever(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_MAX_SECONDS):
                    await self._full.wait()
            except TimeoutError:
                pass  # a second has passed
            try:
                await self.flush()
            except Unavailable:
                await asyncio.sleep(_MAX_SECONDS)  # the flush at the end of a document raises it again
