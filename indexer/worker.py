"""A worker's shift on one corpus: claim, prepare the next batch while the last one is written, renew, hand back.

It knows no broker: whoever rings calls `work`, as often as he likes; the record says what there is to do.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from core.corpora import Corpus, Fine
from core.errors import NotFound, Unavailable
from core.ports.indexing import Chunker, Extractor
from core.ports.record import Claim
from core.strategies import build, parse_spec
from indexer.backends import Backends
from indexer.extraction import make_extractor
from indexer.preparation import Prepared, Preparer
from indexer.writing import Writer, sweep

__all__ = ["Pace", "Worker"]

_MOST_DOCUMENTS = 1000
_LONGEST_PAUSE = 60.0
_LOOK_SECONDS = 0.3


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How a worker claims: leases in seconds, batches in bytes of content, and how long one call of `work` may last."""

    lease_seconds: float
    renew_seconds: float
    batch_bytes: int
    task_seconds: float
    retry_seconds: float

    @property
    def grace(self) -> float:
        """Seconds after which a worker that lost its lease cannot write to a view any more."""
        return self.lease_seconds + self.task_seconds


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
        await self._sweep(corpus_id)
        corpus = await self._backends.corpora.by_id(corpus_id)
        deadline = time.monotonic() + self._pace.task_seconds
        shift = _Shift(self._name, corpus, self._backends, self._pace)
        more = await self._until_stopped(shift.run(lambda: time.monotonic() < deadline))
        await self._backends.work.trim()
        return more

    async def _until_stopped(self, shift: Coroutine[None, None, bool]) -> bool:
        """Run a shift; once `stopping` says so it is cancelled, hands back what it holds, and counts as unfinished."""
        task = asyncio.create_task(shift)
        try:
            while not (await asyncio.wait([task], timeout=_LOOK_SECONDS))[0]:
                if self._stopping():
                    task.cancel()
            return task.cancelled() or task.result()
        finally:
            task.cancel()  # if we are cancelled ourselves

    async def _forget_dropped(self) -> None:
        backends = self._backends
        for corpus_id in await backends.work.dropped():
            await backends.vectors.drop(corpus_id)
            await backends.text.drop(corpus_id)
            await backends.files.drop(corpus_id)
            await backends.work.forget(corpus_id)

    async def _sweep(self, corpus_id: str) -> None:
        due = await self._backends.work.tombstones(corpus_id)
        await sweep(self._backends, due)
        await self._backends.work.clear(due)


class _Shift:
    """One call's work: at most two batches at a time, one being prepared while the other is written."""

    def __init__(self, name: str, corpus: Corpus, backends: Backends, pace: Pace) -> None:
        self._name = name
        self._corpus = corpus
        self._backends = backends
        self._pace = pace
        self._claims: dict[tuple[str, str, int, int], Claim] = {}
        chunker: Chunker = build("indexer.chunkers", parse_spec(corpus.settings.chunker), "chunker", backends)
        extractor: Extractor = make_extractor(corpus.settings.extractor, backends)
        fine = corpus.settings.fine is Fine.ON or (corpus.settings.fine is Fine.AUTO and extractor.gives_triples)
        self._preparer = Preparer(corpus, backends, chunker, extractor)
        self._writer = Writer(corpus, backends, fine=fine, grace=pace.grace)

    async def run(self, going_on: Callable[[], bool]) -> bool:
        """Work until nothing is claimable (False), or until it is time to stop (True)."""
        writing: asyncio.Task[None] | None = None
        more = True
        async with self._renewing():
            try:
                while going_on():
                    claims = await self._claim()
                    if not claims:
                        more = False
                        break
                    prepared = await self._preparer.prepare(await self._fitting(claims))
                    if writing is not None:
                        await writing
                    deletions = [c for c in claims if c.deletion]
                    writing = asyncio.create_task(self._write(claims, prepared, deletions))
                if writing is not None:
                    await writing
            except (Unavailable, asyncio.CancelledError):
                await self._hand_back(writing, self._backends.work.release)
                raise
            except (
                BaseException
            ):  # a fault of ours or of a document: it counts as an attempt, so it cannot go on for ever
                await self._hand_back(writing, partial(self._backends.work.renew, lease_seconds=0.0))
                raise
        return more

    async def _fitting(self, claims: Sequence[Claim]) -> list[Claim]:
        """Those to be indexed; none where the configured model is not the corpus' own."""
        content = [claim for claim in claims if not claim.deletion]
        there, here = self._corpus.settings.embedding_model, self._backends.embedder.model
        if there == here:
            return content
        reason = f"the corpus was built with the embedding model {there!r}, and the worker has {here!r}: set it back"
        for claim in content:
            await self._backends.work.fail(claim, reason)
        return []

    async def _claim(self) -> list[Claim]:
        claims = await self._backends.work.claim(
            self._corpus.id,
            self._name,
            lease_seconds=self._pace.lease_seconds,
            max_bytes=self._pace.batch_bytes,
            max_documents=_MOST_DOCUMENTS,
        )
        self._claims.update({claim.token: claim for claim in claims})
        return claims

    async def _write(self, claims: Sequence[Claim], prepared: Sequence[Prepared], deletions: Sequence[Claim]) -> None:
        await self._writer.remove(deletions)
        await self._writer.write([one for one in prepared if one.claim.token in self._claims])
        for claim in claims:
            self._claims.pop(claim.token, None)

    async def _hand_back(
        self, writing: asyncio.Task[None] | None, give_up: Callable[[Sequence[Claim]], Awaitable[object]]
    ) -> None:
        """Give up what is not finished, so that it need not wait for the lease to run out."""
        if writing is not None and not writing.done():
            writing.cancel()
            await asyncio.wait([writing])
        try:
            await give_up(list(self._claims.values()))
        except Unavailable:
            return  # the record itself is away: the leases run out

    @asynccontextmanager
    async def _renewing(self) -> AsyncIterator[None]:
        task = asyncio.create_task(_every(self._pace.renew_seconds, self._renew))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _renew(self) -> None:
        try:
            lost = await self._backends.work.renew(list(self._claims.values()), lease_seconds=self._pace.lease_seconds)
        except Unavailable:
            return  # the next write will meet the same, and say so
        for claim in lost:
            self._claims.pop(claim.token, None)


async def _every(seconds: float, do: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await do()
