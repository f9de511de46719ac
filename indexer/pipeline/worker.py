"""A worker on one corpus: sweep, work a shift, hand back; and again where something was away for a while.

It knows no broker: whoever rings calls `work`, as often as he likes; the record says what there is to do.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine

from core.corpora import Corpus
from core.errors import NotFound, Unavailable
from indexer.backends import Backends
from indexer.pipeline.pace import Pace
from indexer.pipeline.reindexing import follow_builds
from indexer.pipeline.run import Shift
from indexer.views.deletion import Sweeper, drop_views

__all__ = ["Pace", "Worker"]

_LONGEST_PAUSE = 60.0
_LOOK_SECONDS = 0.3


class Worker:
    """Does what the record says is to be done. `name` owns its claims, which it hands back once `stopping` says so."""

    def __init__(
        self, name: str, backends: Backends, pace: Pace, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self._name = name
        self._backends = backends
        self._pace = pace
        self._stopping = stopping

    async def work(self, corpus_id: str) -> bool:
        """Work on one corpus for about `task_seconds`; returns whether there is more to do.

        Where a store is unavailable, what is claimed is handed back and tried again with growing pauses; that is never
        a document's failure. Raises `Unavailable` when it has lasted too long: the work stays queued.
        """
        started, pause = time.monotonic(), 1.0
        while True:
            try:
                return await self._work(corpus_id)
            except NotFound:
                return False  # the corpus went meanwhile
            except Unavailable:
                if time.monotonic() - started + pause > self._pace.retry_seconds:
                    raise
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    async def _work(self, corpus_id: str) -> bool:
        await self._forget_dropped()
        corpus = await self._backends.corpora.get_by_id(corpus_id)
        await Sweeper(corpus, self._backends).sweep_due()
        shift = Shift(self._name, corpus, self._backends, self._pace)
        more = await self._until_stopped(shift.run(self._clock(corpus, prolong=shift.asks)))
        await self._backends.maintenance.prune()
        return more or await follow_builds(self._backends, corpus_id)

    def _clock(self, corpus: Corpus, *, prolong: bool) -> Callable[[], Awaitable[bool]]:
        """Whether a shift goes on: for `task_seconds`, and where it may be prolonged, while no other corpus waits.

        The end of a shift drains what is in flight, which would leave a model idle.
        """
        deadline = time.monotonic() + self._pace.task_seconds

        async def going_on() -> bool:
            nonlocal deadline
            if time.monotonic() < deadline:
                return True
            if not prolong or set(await self._backends.maintenance.list_corpora_with_work()) - {corpus.id}:
                return False
            await Sweeper(corpus, self._backends).sweep_due()
            await self._backends.maintenance.prune()
            deadline = time.monotonic() + self._pace.task_seconds
            return True

        return going_on

    async def _until_stopped(self, shift: Coroutine[None, None, bool]) -> bool:
        """Run a shift; once `stopping` says so it is cancelled, hands back what it holds, and counts as unfinished."""
        task = asyncio.create_task(shift)
        try:
            while not (await asyncio.wait([task], timeout=_LOOK_SECONDS))[0]:
                if self._stopping() and not task.cancelling():  # a second time would cut off the handing back
                    task.cancel()
            return task.cancelled() or task.result()
        finally:
            task.cancel()  # if we are cancelled ourselves

    async def _forget_dropped(self) -> None:
        backends = self._backends
        for corpus_id in await backends.maintenance.list_deleted_corpora():
            await drop_views(backends, corpus_id)
            await backends.maintenance.delete_corpus_rows(corpus_id)
