"""Extractions on their way into the record: kept soon after they are paid for, whatever becomes of their document."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from core.errors import Unavailable
from core.ports.record import Claim, JobUsage, StagedExtraction, Staging
from indexer.pipeline.usage import Ledger

__all__ = ["StagingBuffer"]

_MOST = 16
_LATEST_SECONDS = 1.0


class StagingBuffer:
    """Collects extractions and stages them, with what was spent, at most a second or some later."""

    def __init__(self, staging: Staging, ledger: Ledger, on_lost: Callable[[Sequence[Claim]], None]) -> None:
        self._staging = staging
        self._on_lost = on_lost
        self._ledger = ledger
        self._pending: list[StagedExtraction] = []
        self._full = asyncio.Event()
        self._writing = asyncio.Lock()

    def add(self, staged: StagedExtraction) -> None:
        self._pending.append(staged)
        if len(self._pending) >= _MOST:
            self._full.set()

    async def flush(self) -> None:
        """Stage what is there. What the record does not take now stays here, for the next time."""
        async with self._writing:
            self._full.clear()
            pending, spent = list(self._pending), self._ledger.untold()
            if not (pending or spent):
                return
            task = asyncio.create_task(self._stage(pending, spent))
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:  # what the record took and we did not note would be told it twice
                await asyncio.wait([task])
                raise

    async def _stage(self, pending: list[StagedExtraction], spent: list[JobUsage]) -> None:
        lost = await self._staging.stage(pending, spent)
        del self._pending[: len(pending)]
        self._ledger.tell(spent)
        self._on_lost(lost)

    @asynccontextmanager
    async def flushing(self) -> AsyncIterator[None]:
        """Flush now and then while the block lasts."""
        task = asyncio.create_task(self._now_and_then())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _now_and_then(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_LATEST_SECONDS):
                    await self._full.wait()
            except TimeoutError:
                pass  # a second has gone by
            try:
                await self.flush()
            except Unavailable:
                await asyncio.sleep(_LATEST_SECONDS)  # whoever hands on a document flushes too, and will say so
