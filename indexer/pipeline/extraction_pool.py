"""Chunks that a model is asked about, of many documents at once: in order, bounded, and again where it went wrong."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import BudgetExhausted, ContextTooLong, Fenced, ModelFailed, ModelRefused
from core.graph import Extraction
from core.ports.indexing import Asking, DraftChunk, Extractor, LoadedDocument
from core.ports.record import Claim, StagedExtraction
from core.trace import Trace
from indexer.pipeline.staging import StagingBuffer

__all__ = ["Asked", "AskingPool"]


_AHEAD = 4  # times the concurrency: what is brought while so much waits comes in time


@dataclass(kw_only=True)
class Asked:
    """A document whose chunks are asked about: what was found by extract hash, and what went wrong by chunk."""

    claim: Claim
    document: LoadedDocument
    chunks: Sequence[DraftChunk]
    hashes: Sequence[str]
    trace: Trace
    found: dict[str, Extraction] = field(default_factory=dict)
    failed: dict[int, ModelFailed] = field(default_factory=dict)
    stopped: BudgetExhausted | ModelRefused | None = None
    lost: bool = False

    @property
    def missing(self) -> list[int]:
        """One chunk for each extraction that is not there: chunks with the same input share it."""
        first = {hash: n for n, hash in reversed(list(enumerate(self.hashes)))}
        return sorted(n for hash, n in first.items() if hash not in self.found)


@dataclass(eq=False)
class _Round:
    """The chunks of one document that are asked about in one go."""

    asked: Asked
    attempt: int
    open: int
    done: asyncio.Future[None]


class AskingPool:
    """At most `concurrency` chunks at a time, first come, first served; each answer is staged as it comes."""

    def __init__(self, extractor: Extractor, asking: Asking, staging: StagingBuffer) -> None:
        self._extractor = extractor
        self._asking = asking
        self._staging = staging
        self._queue: deque[tuple[_Round, int]] = deque()
        self._running: dict[asyncio.Task[Extraction], tuple[_Round, int]] = {}
        self._room = asyncio.Event()
        self._room.set()

    async def ask(self, asked: Asked) -> None:
        """Ask about all that is missing; what fails is asked again once the document's others are there.

        What fails in the end stands in `failed`; what stops all of its job, a budget that is used up or a model that
        refuses every call, in `stopped`; `lost` tells that the claim is. Raises `Unavailable`.
        """
        missing = asked.missing
        for attempt in range(self._asking.attempts):
            if not missing or asked.stopped or asked.lost:
                return
            asked.failed = {n: e for n, e in asked.failed.items() if n not in missing}
            await self._round(asked, missing, attempt)
            missing = [n for n, error in asked.failed.items() if not isinstance(error, ContextTooLong)]

    @property
    def has_room(self) -> bool:
        """Whether little is left to be begun."""
        return self._room.is_set()

    async def room(self) -> None:
        """Wait until little is left to be begun: time to bring more."""
        await self._room.wait()

    def abandon(self, claims: Sequence[Claim]) -> None:
        """End the calls for claims that are lost; their documents come back as such."""
        tokens = {claim.token for claim in claims}
        for round in {round for round, _ in (*self._queue, *self._running.values())}:
            round.asked.lost = round.asked.lost or round.asked.claim.token in tokens
        for task, (round, _) in self._running.items():
            if round.asked.lost:
                task.cancel()

    def _end_calls_of(self, asked: Asked) -> None:
        for task, (round, _) in self._running.items():
            if round.asked is asked:
                task.cancel()

    async def close(self) -> None:
        """End what runs; nothing is begun any more."""
        self._queue.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _round(self, asked: Asked, wanted: Sequence[int], attempt: int) -> None:
        round = _Round(asked, attempt, len(wanted), asyncio.get_running_loop().create_future())
        items = [(round, n) for n in wanted]
        if attempt:  # its document waits for nothing else
            self._queue.extendleft(reversed(items))
        else:
            self._queue.extend(items)
        self._begin()
        await round.done

    def _begin(self) -> None:
        while self._queue and len(self._running) < self._asking.concurrency:
            round, n = self._queue.popleft()
            task = asyncio.create_task(self._extract(round, n))
            self._running[task] = round, n
            task.add_done_callback(self._ended)
        if len(self._queue) < _AHEAD * self._asking.concurrency:
            self._room.set()
        else:
            self._room.clear()

    async def _extract(self, round: _Round, n: int) -> Extraction:
        asked = round.asked
        if asked.stopped:
            raise asked.stopped
        if asked.lost:
            raise Fenced(f"{asked.claim.key!r} was cancelled or superseded")
        [extraction] = await self._extractor.extract(asked.document, asked.chunks, [n], asked.trace, round.attempt)
        return extraction

    def _ended(self, task: asyncio.Task[Extraction]) -> None:
        round, n = self._running.pop(task)
        asked = round.asked
        round.open -= 1
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            hash = asked.hashes[n]
            asked.found[hash] = task.result()
            self._staging.add(StagedExtraction(claim=asked.claim, extract_hash=hash, extraction=task.result()))
        elif isinstance(error, BudgetExhausted):
            asked.stopped = error
        elif isinstance(error, ModelRefused):
            asked.stopped = error
            self._end_calls_of(asked)
        elif isinstance(error, ModelFailed):
            asked.failed[n] = error
        elif asked.lost or asked.stopped:
            pass  # nobody wants it any more, or it would be refused like the others
        elif not round.done.done():  # the document's and its batch's to meet
            round.done.cancel() if task.cancelled() else round.done.set_exception(error)
        if not round.open and not round.done.done():
            round.done.set_result(None)
        self._begin()
