"""The worker: maintains and indexes one corpus at a time, and tries again while a store is unavailable.

It knows no broker. A caller may call `work` as often as it likes: the record tells what is to be done.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace

from core.corpora import Corpus
from core.errors import NotFound, Unavailable
from core.telemetry.spans import SpanKind, span
from indexer.backends import IndexingBackends
from indexer.pipeline.logged_ports import LoggedClaims, LoggedCommits
from indexer.pipeline.maintenance import delete_deleted_corpora, maintain_corpus
from indexer.pipeline.options import WorkerOptions
from indexer.pipeline.reindexing import continue_reindexing
from indexer.pipeline.run import Run

__all__ = ["Worker"]

_MAX_PAUSE = 60.0
_POLL_SECONDS = 0.3


class Worker:
    """Does what the record says is to be done. `name` owns its claims. It gives them back once `is_stopping`.

    `report_waiting` is called with the reason whenever a store is unavailable, and with '' when it is tried again.
    """

    def __init__(
        self,
        name: str,
        backends: IndexingBackends,
        options: WorkerOptions,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        report_waiting: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._name = name
        self._backends = backends
        self._options = options
        self._is_stopping = is_stopping
        self._report_waiting = report_waiting

    async def work(self, corpus_id: str) -> bool:
        """Works on one corpus for about `task_seconds`. Returns whether there is more to do.

        While a store is unavailable, the claims are released, and the work is tried again after growing pauses. No
        document fails because of it. Raises `Unavailable` after `retry_seconds`; the work stays queued.
        """
        started, pause = time.monotonic(), 1.0
        while True:
            try:
                return await self._work(corpus_id)
            except NotFound:
                return False  # the corpus was deleted meanwhile
            except Unavailable as error:
                self._report_waiting(str(error))
                if time.monotonic() - started + pause > self._options.retry_seconds:
                    raise
                await asyncio.sleep(pause)
                self._report_waiting("")
                pause = min(2 * pause, _MAX_PAUSE)

    async def _work(self, corpus_id: str) -> bool:
        await delete_deleted_corpora(self._backends)
        corpus = await self._backends.corpora.get_by_id(corpus_id)
        backends = self._backends.for_corpus(corpus)
        await maintain_corpus(corpus, backends)
        claims = LoggedClaims(backends.claims, corpus.name)
        logged = replace(backends, claims=claims, commits=LoggedCommits(backends.commits, claims))
        run = Run(self._name, corpus, logged, self._options)
        clock = self._make_clock(corpus, may_prolong=run.calls_model)
        with span("run", {"hopweave.worker": self._name}, kind=SpanKind.CONSUMER) as begun:
            more = await self._run_until_stopped(run.run(clock))
            begun.set({"hopweave.documents": claims.made, "hopweave.unfinished": more})
        await self._backends.maintenance.prune()
        return more or await continue_reindexing(self._backends, corpus_id)

    def _make_clock(self, corpus: Corpus, *, may_prolong: bool) -> Callable[[], Awaitable[bool]]:
        """Returns a function that tells whether a run continues.

        A run lasts `task_seconds`. With `may_prolong` it continues while no other corpus waits: the end of a run waits
        for all calls in flight, which would leave a model idle.
        """
        deadline = time.monotonic() + self._options.task_seconds

        async def may_continue() -> bool:
            nonlocal deadline
            if time.monotonic() < deadline:
                return True
            if not may_prolong or set(await self._backends.maintenance.list_corpora_with_work()) - {corpus.id}:
                return False
            await maintain_corpus(corpus, self._backends.for_corpus(corpus))
            await self._backends.maintenance.prune()
            deadline = time.monotonic() + self._options.task_seconds
            return True

        return may_continue

    async def _run_until_stopped(self, run: Coroutine[None, None, bool]) -> bool:
        """Cancels the run once `is_stopping`. It then gives its claims back, and counts as unfinished."""
        task = asyncio.create_task(run)
        try:
            while not (await asyncio.wait([task], timeout=_POLL_SECONDS))[0]:
                if self._is_stopping() and not task.cancelling():  # a second time would interrupt the giving back
                    task.cancel()
            return task.cancelled() or task.result()
        finally:
            task.cancel()  # if this coroutine is cancelled itself
