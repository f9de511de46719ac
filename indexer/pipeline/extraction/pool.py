"""The extraction pool: model calls for the chunks of many documents, in order, bounded, repeated after failures.

First comes a buffer of extractions that are to be staged, so that what is paid for is soon stored.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.errors import BudgetExhausted, ContextTooLong, Fenced, ModelFailed, ModelRefused, Unavailable
from core.graph import Extraction
from core.ports.indexing import Extractor, ModelCalls
from core.ports.record import Claim, JobUsage, StagedExtraction, Staging
from core.telemetry.logs import request_id_of_job, set_request_id
from indexer.pipeline.extraction.accounting import Accounting
from indexer.pipeline.extraction.chunked_document import ChunkedDocument
from indexer.pipeline.progress import ProgressReport

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


_QUEUE_FACTOR = 4  # times the concurrency: while more chunks than this wait, no more documents are needed


@dataclass(eq=False)
class _Round:
    """One attempt to extract some chunks of one document. `open` counts the chunks without a result."""

    document: ChunkedDocument
    attempt: int
    open: int
    done: asyncio.Future[None]


class ExtractionPool:
    """Extracts at most `calls.concurrency` chunks at a time, first in, first out, and stages each result at once."""

    def __init__(
        self, extractor: Extractor, calls: ModelCalls, staging: StagingBuffer, progress: ProgressReport
    ) -> None:
        self._extractor = extractor
        self._calls = calls
        self._staging = staging
        self._progress = progress
        self._queue: deque[tuple[_Round, int]] = deque()
        self._running: dict[asyncio.Task[Extraction], tuple[_Round, int]] = {}
        self._room = asyncio.Event()
        self._room.set()

    async def extract(self, document: ChunkedDocument) -> None:
        """Extracts all chunks of a document that are missing. A chunk that fails is tried again after the others.

        The results and errors are in `found`, `failed`, `stopped` and `fenced` of the document. Raises `Unavailable`.
        """
        missing = document.missing
        for attempt in range(self._calls.attempts):
            if not missing or document.stopped or document.fenced:
                return
            document.failed = {n: e for n, e in document.failed.items() if n not in missing}
            await self._run_round(document, missing, attempt)
            missing = [n for n, error in document.failed.items() if not isinstance(error, ContextTooLong)]

    @property
    def has_room(self) -> bool:
        """Whether few chunks wait to be started."""
        return self._room.is_set()

    async def wait_for_room(self) -> None:
        """Waits until few chunks wait to be started, so that more documents can be brought."""
        await self._room.wait()

    def cancel(self, claims: Sequence[Claim]) -> None:
        """Cancels the calls for claims that are fenced. `extract` returns for their documents."""
        tokens = {claim.token for claim in claims}
        for round in {round for round, _ in (*self._queue, *self._running.values())}:
            round.document.fenced = round.document.fenced or round.document.claim.token in tokens
        for task, (round, _) in self._running.items():
            if round.document.fenced:
                task.cancel()

    async def close(self) -> None:
        """Cancels all calls and starts no more."""
        self._queue.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _run_round(self, document: ChunkedDocument, wanted: Sequence[int], attempt: int) -> None:
        round = _Round(document, attempt, len(wanted), asyncio.get_running_loop().create_future())
        items = [(round, n) for n in wanted]
        if attempt:  # the document waits for nothing else
            self._queue.extendleft(reversed(items))
        else:
            self._queue.extend(items)
        self._start_calls()
        await round.done

    def _start_calls(self) -> None:
        while self._queue and len(self._running) < self._calls.concurrency:
            round, n = self._queue.popleft()
            task = asyncio.create_task(self._extract_chunk(round, n))
            self._running[task] = round, n
            task.add_done_callback(self._handle_result)
        if len(self._queue) < _QUEUE_FACTOR * self._calls.concurrency:
            self._room.set()
        else:
            self._room.clear()

    async def _extract_chunk(self, round: _Round, n: int) -> Extraction:
        document = round.document
        set_request_id(request_id_of_job(document.claim.job_id))  # of this task
        if document.stopped:
            raise document.stopped
        if document.fenced:
            raise Fenced(f"{document.claim.key!r} was cancelled or superseded")
        [extraction] = await self._extractor.extract(
            document.document, document.chunks, [n], document.trace, round.attempt
        )
        return extraction

    def _handle_result(self, task: asyncio.Task[Extraction]) -> None:
        round, n = self._running.pop(task)
        document = round.document
        round.open -= 1
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            hash = document.hashes[n]
            document.found[hash] = task.result()
            self._progress.add({document.claim.token: document.hashes.count(hash)})
            self._staging.add(StagedExtraction(claim=document.claim, extract_hash=hash, extraction=task.result()))
        elif isinstance(error, BudgetExhausted):
            document.stopped = error
        elif isinstance(error, ModelRefused):
            document.stopped = error
            self._cancel_calls_of(document)
        elif isinstance(error, ModelFailed):
            document.failed[n] = error
        elif document.fenced or document.stopped:
            pass  # the result is not wanted, or would be refused like the others
        elif not round.done.done():  # the error reaches the caller of `extract`, and with it the whole batch
            round.done.cancel() if task.cancelled() else round.done.set_exception(error)
        if not round.open and not round.done.done():
            round.done.set_result(None)
        self._start_calls()

    def _cancel_calls_of(self, document: ChunkedDocument) -> None:
        for task, (round, _) in self._running.items():
            if round.document is document:
                task.cancel()
