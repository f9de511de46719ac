"""The extraction pool: model calls for the chunks of many documents, in order, bounded, repeated after failures.

First come the usage of each job, the documents with the extractions that they have so far, and a buffer of extractions
that are to be staged, so that what is paid for is soon stored.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.errors import BudgetExhausted, ContextTooLong, Fenced, ModelFailed, ModelRefused, Unavailable
from core.events import CallEvent
from core.execution.limits import WorkLimit
from core.graph import Extraction
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument, ModelCalls
from core.ports.record import Claim, JobUsage, StagedExtraction, Staging
from core.telemetry.logs import request_id_of_job, set_request_id
from core.trace import Budget, Event, Trace
from indexer.pipeline.progress import ProgressReport


@dataclass
class _Account:
    """The usage of one job in this run.

    `elsewhere` are the tokens that the job spent before this run, or spends in other workers, as far as is known.
    `calls` counts the calls that ended: a call that is cancelled while it waits for its turn was never made. `recorded`
    is the usage in the record.
    """

    job_id: str
    trace: Trace = field(default_factory=Trace)
    elsewhere: int = 0
    calls: int = 0
    recorded: JobUsage = field(default_factory=lambda: JobUsage(job_id=""))

    def __post_init__(self) -> None:
        self.trace.listeners.append(self._count)

    def _count(self, event: Event) -> None:
        self.calls += isinstance(event, CallEvent) and not event.cached
        self.trace.events.clear()  # no code reads the events of a job, which may make a million calls

    @property
    def unrecorded(self) -> JobUsage:
        usage, recorded = self.trace.usage, self.recorded
        return JobUsage(
            job_id=self.job_id,
            calls=self.calls - recorded.calls,
            prompt_tokens=usage.prompt_tokens - recorded.prompt_tokens,
            completion_tokens=usage.completion_tokens - recorded.completion_tokens,
        )


class Accounting:
    """Counts what each job spends. The documents of one job share its trace, and so its budget."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def trace_of(self, claim: Claim) -> Trace:
        """Returns the trace of the job of a claim. Its budget is what was left when the claim was made."""
        account = self._accounts.setdefault(claim.job_id, _Account(claim.job_id))
        used = account.trace.usage.tokens  # `tokens_spent` includes the part that the record had
        account.elsewhere = max(account.elsewhere, claim.tokens_spent - used)
        limit = None if claim.token_budget is None else max(0, claim.token_budget - account.elsewhere)
        account.trace.budget = Budget(tokens=limit)
        return account.trace

    def unrecorded(self) -> list[JobUsage]:
        """Returns the usage since the last `mark_recorded`, of each job that has any."""
        return [
            spent
            for account in self._accounts.values()
            if (spent := account.unrecorded).calls or spent.prompt_tokens or spent.completion_tokens
        ]

    def mark_recorded(self, spent: list[JobUsage]) -> None:
        """Notes that the record has stored this usage."""
        for one in spent:
            account = self._accounts[one.job_id]
            account.recorded = JobUsage(
                job_id=one.job_id,
                calls=account.recorded.calls + one.calls,
                prompt_tokens=account.recorded.prompt_tokens + one.prompt_tokens,
                completion_tokens=account.recorded.completion_tokens + one.completion_tokens,
            )


@dataclass(kw_only=True)
class ChunkedDocument:
    """The chunks of a claimed document. `hashes[i]` is the extract hash of `chunks[i]`.

    `found` holds the extractions by extract hash, `failed` the errors by the index of the chunk. `stopped` is the error
    that stops the whole job: its budget is used up, or the model refuses every call. `fenced` tells whether the claim
    is fenced. `limit` bounds the time of the work.
    """

    claim: Claim
    document: LoadedDocument
    chunks: Sequence[DraftChunk]
    hashes: Sequence[str]
    trace: Trace
    limit: WorkLimit
    found: dict[str, Extraction] = field(default_factory=dict)
    failed: dict[int, ModelFailed] = field(default_factory=dict)
    stopped: BudgetExhausted | ModelRefused | None = None
    fenced: bool = False

    def count_extracted(self) -> int:
        """Returns the number of chunks that have their extraction."""
        return sum(hash in self.found for hash in self.hashes)

    @property
    def missing(self) -> list[int]:
        """One chunk for each extraction that is missing. Chunks with the same input share an extraction."""
        return self.missing_in(range(len(self.hashes)))

    def missing_in(self, part: range) -> list[int]:
        """Returns `missing` among some chunks."""
        first = {self.hashes[n]: n for n in reversed(part)}
        return sorted(n for hash, n in first.items() if hash not in self.found)


_MIN_TEXT = 200  # characters; a shorter document may well name nothing
_SHOWN = 10
_KEPT = "what was paid for is kept: `hopweave documents retry` asks only for the rest"


def find_shortfall(document: ChunkedDocument, *, calls_model: bool) -> str:
    """Returns the reason with its remedy, or '' if the document can be indexed. `calls_model`: the extractor does."""
    if document.failed:
        return _describe_missing(document)
    if calls_model and document.chunks and not any(one.entities or one.triples for one in document.found.values()):
        return _describe_empty(document)
    return ""


def _describe_missing(document: ChunkedDocument) -> str:
    positions = sorted(n for n, hash in enumerate(document.hashes) if hash not in document.found)
    shown = ", ".join(map(str, positions[:_SHOWN])) + (", …" if len(positions) > _SHOWN else "")
    last = document.failed[max(document.failed)]
    return (
        f"{len(positions)} of {len(document.chunks)} passages could not be extracted (position {shown}, from 0): "
        f"{last}; {_KEPT}"
    )


def _describe_empty(document: ChunkedDocument) -> str:
    if sum(len(chunk.text.strip()) for chunk in document.chunks) <= _MIN_TEXT:
        return ""
    return (
        f"the model found no entity in any of its {len(document.chunks)} passages: set a model that does by "
        "HOPWEAVE_LLM__ROLES__EXTRACT__MODEL and retry the document, or use the extractor 'pattern+llm' in a new corpus"
    )


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

    async def flush_forever(self) -> None:
        """Flushes about once a second, or when the buffer is full."""
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
