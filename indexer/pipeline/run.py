"""A worker's shift on one corpus: claim, prepare the next batch while the last one is written, renew, hand back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from core.corpora import Corpus
from core.errors import InvalidStrategy, Unavailable
from core.ports.indexing import Chunker
from core.ports.record import Claim
from core.strategies import build, parse_spec
from indexer.backends import Backends
from indexer.extraction import has_fine_vectors, make_extractor
from indexer.pipeline.extraction_pool import Asked, AskingPool
from indexer.pipeline.pace import Pace
from indexer.pipeline.preparation import Prepared, Preparer
from indexer.pipeline.staging import StagingBuffer
from indexer.pipeline.usage import Ledger
from indexer.pipeline.writing import Writer

__all__ = ["Shift"]

_MOST_DOCUMENTS = 1000
_LOOK_SECONDS = 0.3
_BATCHES = 2  # one is written while the next is prepared
_BATCHES_ASKING = 16  # a model that is waited for must not wait for what is written
_BYTES_ASKING = 32_000  # some seconds of a model's work: what one worker has claimed, others cannot help with


class Shift:
    """One call's work: some batches at a time, one of them being written.

    Where a model is asked, the next batch is claimed when few chunks are left to begin, so that it is never idle.
    """

    def __init__(self, name: str, corpus: Corpus, backends: Backends, pace: Pace) -> None:
        self._name = name
        self._corpus = corpus
        self._backends = backends
        self._pace = pace
        self._claims: dict[tuple[str, str, int, int], Claim] = {}
        self._batches: set[asyncio.Task[None]] = set()
        self._one_writes = asyncio.Lock()
        settings = corpus.settings
        self._writer = Writer(corpus, backends, fine=has_fine_vectors(settings), grace=pace.grace)
        ledger = Ledger()
        self._staging = StagingBuffer(backends.staging, ledger, self._lost)
        self._pool: AskingPool | None = None
        self._is_warm = False
        self._preparer: Preparer | None = None
        self._refusal = self._wrong_model()
        if self._refusal:
            return
        try:
            extractor = make_extractor(settings.extractor, backends.models)
        except InvalidStrategy as error:
            self._refusal = f"{error}; then retry the document"
            return
        if extractor.asking:
            self._pool = AskingPool(extractor, extractor.asking, self._staging)
        chunker: Chunker = build("indexer.chunkers", parse_spec(settings.chunker), "chunker", backends)
        self._preparer = Preparer(
            corpus, backends, chunker, extractor, ledger=ledger, staging=self._staging, pool=self._pool
        )

    @property
    def asks(self) -> bool:
        """Whether a model is asked, which a pause would leave idle."""
        return self._pool is not None

    async def run(self, going_on: Callable[[], Awaitable[bool]]) -> bool:
        """Work until nothing is claimable (False), or until it is time to stop (True)."""
        async with self._renewing(), self._staging.flushing():
            try:
                more = await self._run(going_on)
            except (Unavailable, asyncio.CancelledError):
                await self._hand_back(self._backends.claims.release)
                raise
            except (
                BaseException
            ):  # a fault of ours or of a document: it counts as an attempt, so it cannot go on for ever
                await self._hand_back(partial(self._backends.claims.renew, lease_seconds=0.0))
                raise
        return more

    async def _run(self, going_on: Callable[[], Awaitable[bool]]) -> bool:
        while await going_on():
            if not await self._room():
                continue
            claims = await self._claim()
            if claims:
                await self._warm()
                read = await self._preparer.read([c for c in claims if not c.deletion]) if self._preparer else []
                self._batches.add(asyncio.create_task(self._finish(claims, read)))
            elif self._batches:
                await self._wait(self._batches)  # more may be handed in meanwhile
            else:
                return False
        while self._batches:
            await self._wait(self._batches)
        return True

    async def _warm(self) -> None:
        """Load the embedding model before a language model is asked: importing its library stops the event loop for
        tenths of a second at a time. A model that cannot be loaded is found out before anything is paid.
        """
        if self._pool is None or self._is_warm:
            return
        await self._backends.embedder.embed_query("warm")
        self._is_warm = True

    async def _room(self) -> bool:
        """Whether to claim another batch now; waits a little where not."""
        if len(self._batches) >= (_BATCHES_ASKING if self._pool else _BATCHES):
            await self._wait(self._batches)
            return False
        if self._pool is None or self._pool.has_room:
            return True
        room = asyncio.create_task(self._pool.room())
        try:
            await self._wait({room, *self._batches})
        finally:
            room.cancel()
        return False

    async def _wait(self, tasks: set[asyncio.Task[None]]) -> None:
        """Until one of the tasks ends, or for a moment; what went wrong in a batch is raised here."""
        await asyncio.wait(tasks, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for batch in [batch for batch in self._batches if batch.done()]:
            self._batches.discard(batch)
            batch.result()

    async def _finish(self, claims: Sequence[Claim], read: Sequence[Asked]) -> None:
        prepared = await self._preparer.extract(read) if self._preparer else []
        async with self._one_writes:
            await self._write(claims, prepared)

    def _wrong_model(self) -> str:
        there, here = self._corpus.settings.embedding_model, self._backends.embedder.model
        if there == here:
            return ""
        return f"the corpus was built with the embedding model {there!r}, and the worker has {here!r}: set it back"

    async def _claim(self) -> list[Claim]:
        """The next batch, to be indexed or deleted; where the worker cannot index here, its documents have failed."""
        claiming = asyncio.ensure_future(
            self._backends.claims.claim(
                self._corpus.id,
                self._name,
                lease_seconds=self._pace.lease_seconds,
                max_bytes=self._pace.batch_bytes if self._pool is None else min(self._pace.batch_bytes, _BYTES_ASKING),
                max_documents=_MOST_DOCUMENTS,
            )
        )
        try:
            claims = await asyncio.shield(claiming)
        except asyncio.CancelledError:  # the transaction goes on in its thread; what it claims is to be handed back
            self._claims.update({claim.token: claim for claim in await claiming})
            raise
        self._claims.update({claim.token: claim for claim in claims})
        if self._refusal:
            for claim in claims:
                if not claim.deletion:
                    await self._backends.claims.fail(claim, self._refusal)
        return claims

    async def _write(self, claims: Sequence[Claim], prepared: Sequence[Prepared]) -> None:
        await self._writer.remove([claim for claim in claims if claim.deletion])
        await self._writer.write([one for one in prepared if one.claim.token in self._claims])
        self._forget(claims)

    async def _hand_back(self, give_up: Callable[[Sequence[Claim]], Awaitable[object]]) -> None:
        """Give up what is not finished, so that it need not wait for the lease to run out; what is paid for is kept."""
        if self._pool is not None:
            await self._pool.close()
        batches = list(self._batches)
        for batch in batches:
            batch.cancel()
        if batches:
            await asyncio.gather(*batches, return_exceptions=True)
        try:
            await self._staging.flush()
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
            lost = await self._backends.claims.renew(
                list(self._claims.values()), lease_seconds=self._pace.lease_seconds
            )
        except Unavailable:
            return  # the next write will meet the same, and say so
        self._lost(lost)

    def _lost(self, claims: Sequence[Claim]) -> None:
        self._forget(claims)
        if self._pool is not None and claims:
            self._pool.abandon(claims)

    def _forget(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            self._claims.pop(claim.token, None)


async def _every(seconds: float, do: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await do()
