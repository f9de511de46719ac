"""The worker: maintains and indexes one corpus at a time, and tries again while a store is unavailable.

- Maintenance between runs: entries of due tombstones, pending synonyms, all that deleted corpora left, and certificates
  of what was removed.
- Reindexing: submits to a shadow corpus what it lacks, and gives it the name of the corpus when it is complete.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace

from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import HopweaveError, NotFound, Unavailable
from core.execution.limits import FairSlots
from core.jobs import Job
from core.ports.record import ClaimFilter, NewRevision, Reindex
from core.record_policy.claims import next_corpus
from core.telemetry.spans import SpanKind, span
from indexer.backends import IndexingBackends
from indexer.pipeline.logged_ports import LoggedClaims, LoggedCommits
from indexer.pipeline.options import WorkerOptions
from indexer.pipeline.run import Run
from indexer.views.certifying import certify
from indexer.views.repair import ViewDeleter, ViewRepairer, delete_corpus_views


async def _maintain_corpus(corpus: Corpus, backends: IndexingBackends) -> None:
    """Finishes what other workers left: deletes due entries, and links synonyms of entities whose worker has died."""
    await ViewDeleter(corpus, backends).delete_due()
    await ViewRepairer(corpus, backends).link_synonyms(await backends.record.commits.list_pending_synonyms(corpus.id))


async def _delete_deleted_corpora(backends: IndexingBackends) -> None:
    """Deletes the views, files and rows of corpora that are deleted already for readers."""
    for corpus_id in await backends.record.maintenance.list_deleted_corpora():
        await delete_corpus_views(backends, corpus_id)
        await backends.record.maintenance.delete_corpus_rows(corpus_id)


_UNFINISHED = ("queued", "loading", "extracting", "writing", "deleting", "paused")
_COPY_BATCH = 32


async def _continue_reindexing(backends: IndexingBackends, corpus_id: str) -> bool:
    """Continues each reindexing with this corpus, or with this shadow corpus. Returns whether it queued anything.

    If several workers do so at once, the record lets one of them queue and one of them swap.
    """
    queued = False
    for reindex in await backends.record.reindexing.list():
        if corpus_id in (reindex.corpus_id, reindex.shadow_id):
            queued |= await _continue(backends, reindex)
    return queued


async def _continue(backends: IndexingBackends, reindex: Reindex) -> bool:
    job = await backends.record.jobs.get(reindex.job_id)
    if job.state.final:  # it was cancelled
        await backends.record.reindexing.cancel(reindex.corpus_id)
        return False
    queued = False
    while difference := await backends.record.reindexing.compare(reindex.corpus_id):
        queued = True
        if difference.revisions:
            await _copy_originals(backends, reindex, difference.revisions)
            await backends.record.submissions.enqueue(
                reindex.shadow_id, difference.revisions, OnConflict.REPLACE, job_id=reindex.job_id
            )
            # Between copying and queuing, another worker may have deleted bytes that no revision named: copy again.
            await _copy_originals(backends, reindex, difference.revisions)
        if difference.document_ids:
            await backends.record.submissions.delete_documents(reindex.shadow_id, difference.document_ids)
    if not queued and not _is_unfinished(job):
        await _swap(backends, reindex, job)
    return queued


async def _swap(backends: IndexingBackends, reindex: Reindex, job: Job) -> None:
    """Swaps the corpora. If a readable document of the corpus has failed in the shadow corpus, cancels instead."""
    if await backends.record.reindexing.swap(reindex.corpus_id) is None and job.counts.get("failed"):
        await backends.record.reindexing.cancel(reindex.corpus_id)


def _is_unfinished(job: Job) -> bool:
    return any(job.counts.get(state) for state in _UNFINISHED)


async def _copy_originals(backends: IndexingBackends, reindex: Reindex, revisions: Sequence[NewRevision]) -> None:
    """Copies the originals. They are stored per corpus, so deleting a corpus deletes no originals of another corpus."""
    names = sorted({revision.content_hash for revision in revisions})
    for start in range(0, len(names), _COPY_BATCH):
        await asyncio.gather(*(_copy(backends, reindex, name) for name in names[start : start + _COPY_BATCH]))


async def _copy(backends: IndexingBackends, reindex: Reindex, name: str) -> None:
    try:
        content = await backends.files.get(reindex.corpus_id, name)
    except NotFound:
        return  # its document fails to load, with a reason
    await backends.files.put(reindex.shadow_id, [content])


_MAX_PAUSE = 60.0
_POLL_SECONDS = 0.3
_LOOK_SECONDS = 1.0  # between two looks for documents that are smaller than the document in work
_PAUSE_AFTER_ERROR = 15.0


async def _ignore_end(_corpus_id: str, _more: bool) -> None:
    """Does nothing."""


class Worker:
    """Does what the record says is to be done. `name` owns its claims. It gives them back once `is_stopping`.

    - `report_waiting` is called with the reason whenever a store is unavailable, and with '' when it is tried again.
    - `report_end` is called after each run with the id of its corpus, and whether there is more to do.
    - `report_failure` is called with the id of a corpus and the error of a run that was made beside another run.
    """

    def __init__(
        self,
        name: str,
        backends: IndexingBackends,
        options: WorkerOptions,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        report_waiting: Callable[[str], None] = lambda _: None,
        report_end: Callable[[str, bool], Awaitable[None]] = _ignore_end,
        report_failure: Callable[[str, HopweaveError], None] = lambda *_: None,
    ) -> None:
        self._name = name
        self._backends = backends
        self._options = options
        self._is_stopping = is_stopping
        self._report_waiting = report_waiting
        self._report_end = report_end
        self._report_failure = report_failure
        self._not_before: dict[str, float] = {}

    async def work(self, corpus_id: str) -> bool:
        """Works on one corpus for about `task_seconds`, or `turn_seconds` if others wait. Returns whether there is more
        to do. A document that was begun is finished, however long that takes, and smaller documents of all corpora take
        turns with it.

        While a store is unavailable, the worker gives its claims back, and tries again after growing pauses. No
        document fails because of it. Raises `Unavailable` after `retry_seconds`; the work stays queued.
        """
        started, pause = time.monotonic(), 1.0
        while True:
            try:
                await _delete_deleted_corpora(self._backends)
                await certify(self._backends)
                return await self._work(corpus_id, FairSlots(1), guard=self._run_until_stopped)
            except NotFound:
                return False  # the corpus was deleted meanwhile
            except Unavailable as error:
                self._report_waiting(str(error))
                if time.monotonic() - started + pause > self._options.retry_seconds:
                    raise
                await asyncio.sleep(pause)
                self._report_waiting("")
                pause = min(2 * pause, _MAX_PAUSE)

    async def _work(
        self,
        corpus_id: str,
        turns: FairSlots,
        *,
        guard: Callable[[Coroutine[None, None, bool]], Awaitable[bool]],
        max_size: int | None = None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Makes a run. Claims nothing more when it `is_over`. `guard` awaits the run."""
        corpus = await self._backends.record.corpora.get_by_id(corpus_id)
        backends = self._backends.for_corpus(corpus)
        await _maintain_corpus(corpus, backends)
        record = backends.record
        claims = LoggedClaims(record.claims, corpus.name)
        commits = LoggedCommits(record.commits, claims)
        logged = replace(backends, record=record.with_ports(claims=claims, commits=commits))
        schema = await backends.read_schema(corpus_id)
        run = Run(self._name, corpus, logged, self._options, turns=turns, max_size=max_size, schema=schema)
        clock = self._make_clock(corpus, is_over, may_prolong=run.calls_model)
        with span("run", {"hopweave.worker": self._name}, kind=SpanKind.CONSUMER) as begun:
            more = await guard(self._run_beside_smaller(run, corpus_id, clock, turns))
            begun.set({"hopweave.documents": claims.made, "hopweave.unfinished": more})
        await self._backends.record.maintenance.prune()
        more = more or await _continue_reindexing(self._backends, corpus_id)
        await self._report_end(corpus_id, more)
        return more

    def _make_clock(
        self, corpus: Corpus, is_over: Callable[[], bool], *, may_prolong: bool
    ) -> Callable[[], Awaitable[bool]]:
        """Returns a function that tells whether a run claims another batch.

        A run lasts `task_seconds`, and only `turn_seconds` if other corpora wait. With `may_prolong` it continues while
        no corpus waits: the end of a run waits for all calls in flight, which would leave a model idle.
        """
        began, deadline = time.monotonic(), time.monotonic() + self._options.task_seconds
        is_first = True

        async def may_continue() -> bool:
            nonlocal deadline, is_first
            if is_first:
                is_first = False
                return True
            if is_over():
                return False
            now = time.monotonic()
            if now < began + self._options.turn_seconds:
                return True
            if set(await self._backends.record.maintenance.list_corpora_with_work()) - {corpus.id}:
                return False
            if now < deadline:
                return True
            if not may_prolong:
                return False
            await _maintain_corpus(corpus, self._backends.for_corpus(corpus))
            await self._backends.record.maintenance.prune()
            deadline = time.monotonic() + self._options.task_seconds
            return True

        return may_continue

    async def _run_beside_smaller(
        self, run: Run, corpus_id: str, may_continue: Callable[[], Awaitable[bool]], turns: FairSlots
    ) -> bool:
        """Makes a run, and beside it runs for documents smaller than the document in work. An error ends both."""
        main = asyncio.create_task(run.run(may_continue))
        beside = asyncio.create_task(self._serve_smaller(run, main, corpus_id, turns))
        try:
            await asyncio.wait([main, beside], return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in (main, beside):
                task.cancel()  # without effect on a task that has ended
            await asyncio.wait([main, beside])
        if not beside.cancelled():
            beside.result()
        return main.result()

    async def _serve_smaller(self, run: Run, main: "asyncio.Task[bool]", corpus_id: str, turns: FairSlots) -> None:
        """Makes runs for documents that may be indexed beside `run`, for one corpus after the other, while `main` runs.

        If a run fails, its corpus waits for a turn without another run beside it, which handles the error.
        """
        last = corpus_id
        while not main.done():
            max_size = run.max_size_beside
            next_id = await self._find_smaller(max_size, last) if max_size else None
            if next_id is None:
                await asyncio.wait([main], timeout=_LOOK_SECONDS)
                continue
            last = next_id
            try:
                await self._work(next_id, turns, guard=lambda made: made, max_size=max_size, is_over=main.done)
            except HopweaveError as error:
                self._not_before[next_id] = time.monotonic() + _PAUSE_AFTER_ERROR
                self._report_failure(next_id, error)

    async def _find_smaller(self, max_size: int, last: str) -> str | None:
        """Returns the corpus that comes after `last` and has a document of at most `max_size` bytes to be claimed."""
        now = time.monotonic()
        paused = [corpus_id for corpus_id, then in self._not_before.items() if now < then]
        found = await self._backends.record.claims.list_corpora(ClaimFilter(max_size=max_size, suspects=False))
        return next_corpus(found, last, leaving_out=paused)

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
