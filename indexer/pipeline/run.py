"""A run: the bounded pass of a worker over one corpus. It prepares the next batches while one batch is written.

First come the claims that it holds: made in batches, renewed while they are held, and given back in the end.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from sys import maxsize

from core.corpora import Corpus
from core.errors import InvalidSettings, InvalidStrategy, Unavailable
from core.execution.limits import FairSlots
from core.graph_schema import NO_SCHEMA, GraphSchema
from core.ports.indexing import Extractor
from core.ports.record import EVERY_REVISION, Claim, ClaimFilter, Claims
from core.prompting.prompts import use_prompts
from core.record_policy.claims import size_class
from indexer.backends import IndexingBackends
from indexer.pipeline.extraction import Accounting, ChunkedDocument, StagingBuffer
from indexer.pipeline.options import WorkerOptions
from indexer.pipeline.preparation import Preparer
from indexer.pipeline.progress import ProgressReport
from indexer.pipeline.writing import RevisionWriter
from indexer.selection.extractors import has_fine_vectors, make_chunker, make_extractor

_MAX_DOCUMENTS = 1000


class _HeldClaims:
    """Claims revisions of one corpus for one worker. `on_fenced` is called with claims that turn out to be fenced."""

    def __init__(
        self,
        worker: str,
        corpus_id: str,
        claims: Claims,
        options: WorkerOptions,
        on_fenced: Callable[[Sequence[Claim]], None],
    ) -> None:
        self._worker = worker
        self._corpus_id = corpus_id
        self._store = claims
        self._options = options
        self._on_fenced = on_fenced
        self._held: dict[tuple[str, str, int, int], Claim] = {}

    def __contains__(self, claim: Claim) -> bool:
        return claim.token in self._held

    @property
    def largest(self) -> int:
        """The size of the largest held revision, in bytes; 0 without revisions."""
        return max((claim.size for claim in self._held.values()), default=0)

    @property
    def has_suspect(self) -> bool:
        """Whether a revision is held that is claimed alone."""
        return any(claim.suspect for claim in self._held.values())

    async def claim(self, max_bytes: int, only: ClaimFilter) -> list[Claim]:
        """Claims the next batch of this kind. It has at most `max_bytes` of content, and at most
        `WorkerOptions.batch_bytes`, but at least one document.

        If it is cancelled, the claims that the record makes nevertheless are held, so that they are given back.
        """
        claiming = asyncio.ensure_future(
            self._store.claim(
                self._corpus_id,
                self._worker,
                lease_seconds=self._options.lease_seconds,
                max_bytes=min(max_bytes, self._options.batch_bytes),
                max_documents=_MAX_DOCUMENTS,
                only=only,
            )
        )
        try:
            claims = await asyncio.shield(claiming)
        except asyncio.CancelledError:  # the transaction continues in its thread
            self._add(await claiming)
            raise
        self._add(claims)
        return claims

    def discard(self, claims: Iterable[Claim]) -> None:
        """Holds these claims no longer: they are committed, failed or fenced."""
        for claim in claims:
            self._held.pop(claim.token, None)

    async def release(self) -> None:
        """Makes what is held claimable at once, without counting an attempt."""
        await self._store.release(list(self._held.values()))

    async def expire(self) -> None:
        """Makes what is held claimable at once. The attempt counts, so a document that always fails is given up."""
        await self._store.renew(list(self._held.values()), lease_seconds=0.0)

    async def renew_forever(self) -> None:
        """Renews the leases every `renew_seconds`."""
        while True:
            await asyncio.sleep(self._options.renew_seconds)
            held = list(self._held.values())
            try:
                fenced = await self._store.renew(held, lease_seconds=self._options.lease_seconds)
            except Unavailable:
                continue  # the next write raises it again
            self._on_fenced(fenced)

    def _add(self, claims: Iterable[Claim]) -> None:
        self._held.update({claim.token: claim for claim in claims})


_POLL_SECONDS = 0.3
_MAX_BATCHES = 2  # one is written while the next is prepared
_MAX_BATCHES_WITH_MODEL = 16  # model calls must not wait until a batch is written
_MAX_BYTES_WITH_MODEL = 32_000  # some seconds of a model's work: other workers cannot help with claimed documents


class Run:
    """Claims, prepares and commits batches. Only one batch is written at a time.

    If the extractor calls a model, the next batch is claimed when few chunks wait for a call, so the model is never
    idle.

    A batch of small documents and a larger document are claimed in turn, the small documents first. While a larger
    document is in work, only documents of its size class are claimed besides: the worker makes runs for smaller
    documents meanwhile. Such a run claims only documents of at most `max_size` bytes, and none that is claimed alone.
    Runs of one worker take turns at the embedding model, at `turns`. The extractor is told of `schema`.
    """

    def __init__(
        self,
        name: str,
        corpus: Corpus,
        backends: IndexingBackends,
        options: WorkerOptions,
        *,
        turns: FairSlots,
        max_size: int | None = None,
        schema: GraphSchema = NO_SCHEMA,
    ) -> None:
        self._corpus = corpus
        self._backends = backends
        self._limits = options.document
        self._small = options.small_bytes
        self._max_size = max_size
        self._small_were_last = False
        self._claims = _HeldClaims(name, corpus.id, backends.record.claims, options, self._handle_fenced)
        self._accounting = Accounting()
        self._staging = StagingBuffer(backends.record.staging, self._accounting, self._handle_fenced)
        fine = has_fine_vectors(corpus.settings)
        self._progress = ProgressReport(backends.record.claims)
        self._writer = RevisionWriter(corpus, backends, self._progress, fine=fine, grace=options.grace, turns=turns)
        self._batches: set[asyncio.Task[None]] = set()
        self._write_lock = asyncio.Lock()
        self._is_warm = False
        self._preparer: Preparer | None = None
        self._refusal = self._compare_models()
        if not self._refusal:
            try:
                with use_prompts(backends.prompts):
                    extractor = make_extractor(corpus.settings.extractor, backends.models, schema)
            except InvalidStrategy as error:
                self._refusal = f"{error}; then retry the document"
            else:
                self._preparer = self._make_preparer(extractor)
        self._pool = self._preparer.pool if self._preparer else None

    @property
    def calls_model(self) -> bool:
        """Whether the extractor calls a model, which would be idle between two runs."""
        return self._pool is not None

    @property
    def max_size_beside(self) -> int:
        """The largest size of a document that may be indexed while this run works; 0 if no document may.

        Nothing is indexed beside a document that may have killed workers.
        """
        if self._claims.has_suspect:
            return 0
        return max(0, size_class(self._claims.largest, self._small).start - 1)

    async def run(self, may_continue: Callable[[], Awaitable[bool]]) -> bool:
        """Works until nothing is claimable (returns False), or until `may_continue` returns False (returns True)."""
        async with (
            _beside(self._claims.renew_forever()),
            _beside(self._staging.flush_forever()),
            _beside(self._progress.report_forever()),
        ):
            try:
                more = await self._run(may_continue)
            except (Unavailable, InvalidSettings, asyncio.CancelledError):  # a store, and no document, is at fault
                await self._give_back(self._claims.release)
                raise
            except BaseException:  # a fault of ours or of a document: it counts as an attempt, so it ends some time
                await self._give_back(self._claims.expire)
                raise
        return more

    def _compare_models(self) -> str:
        """Returns why this worker cannot embed for the corpus, or ''."""
        there, here = self._corpus.settings.embedding_model, self._backends.embedder.model
        if there == here:
            return ""
        return f"the corpus was built with the embedding model {there!r}, and the worker has {here!r}: set it back"

    def _make_preparer(self, extractor: Extractor) -> Preparer:
        chunker = make_chunker(self._corpus.settings.chunker)
        return Preparer(
            self._corpus,
            self._backends,
            chunker,
            extractor,
            accounting=self._accounting,
            staging=self._staging,
            progress=self._progress,
            limits=self._limits,
        )

    async def _run(self, may_continue: Callable[[], Awaitable[bool]]) -> bool:
        while True:
            if not await self._has_room():
                continue
            if not await may_continue():
                break
            claims = await self._claim()
            if claims:
                await self._load_embedder()
                read = await self._preparer.read([c for c in claims if not c.deletion]) if self._preparer else []
                self._batches.add(asyncio.create_task(self._finish_batch(claims, read, set(self._batches))))
            elif self._batches:
                await self._wait(self._batches)  # more documents may be submitted meanwhile
            else:
                return False
        while self._batches:
            await self._wait(self._batches)
        return True

    async def _claim(self) -> list[Claim]:
        """Claims the next batch. Fails the documents in it if this worker cannot index them."""
        claims = await self._claim_in_turn(maxsize if self._pool is None else _MAX_BYTES_WITH_MODEL)
        if self._refusal:
            for claim in claims:
                if not claim.deletion:
                    await self._backends.record.claims.fail(claim, self._refusal)
        return claims

    async def _claim_in_turn(self, max_bytes: int) -> list[Claim]:
        """Claims small documents or a larger document, in turn. If there is neither, and nothing is in work, claims a
        document that is claimed alone.
        """
        in_work = size_class(self._claims.largest, self._small).start
        sizes = [ClaimFilter(min_size=max(in_work, self._small + 1), max_size=self._max_size, suspects=False)]
        if not in_work:
            sizes.insert(1 if self._small_were_last else 0, ClaimFilter(max_size=self._small, suspects=False))
        for only in sizes:
            if claims := await self._claims.claim(max_bytes, only):
                self._small_were_last = not only.min_size
                return claims
        if self._max_size is None and not self._batches:
            return await self._claims.claim(max_bytes, EVERY_REVISION)
        return []

    async def _load_embedder(self) -> None:
        """Loads the embedding model before the first call of a language model.

        Importing its library stops the event loop for tenths of a second at a time. And a model that cannot be loaded
        is noticed before anything is paid for.
        """
        if self._pool is not None and self._corpus.settings.has_vectors and not self._is_warm:
            await self._backends.embedder.embed_query("warm")
            self._is_warm = True

    async def _has_room(self) -> bool:
        """Returns whether to claim another batch now. If not, waits a little."""
        if len(self._batches) >= (_MAX_BATCHES_WITH_MODEL if self._pool else _MAX_BATCHES):
            await self._wait(self._batches)
            return False
        if self._pool is None or self._pool.has_room:
            return True
        room = asyncio.create_task(self._pool.wait_for_room())
        try:
            await self._wait({room, *self._batches})
        finally:
            room.cancel()
        return False

    async def _wait(self, tasks: set[asyncio.Task[None]]) -> None:
        """Waits until a task ends, but not long. Raises the error of a batch that has failed."""
        await asyncio.wait(tasks, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for batch in [batch for batch in self._batches if batch.done()]:
            self._batches.discard(batch)
            batch.result()

    async def _finish_batch(
        self, claims: Sequence[Claim], documents: list[ChunkedDocument], earlier: set[asyncio.Task[None]]
    ) -> None:
        """A large document is written after all that was claimed earlier, which would wait for it for long."""
        prepared = await self._preparer.extract(documents) if self._preparer else []
        if earlier and any(claim.size > self._small for claim in claims):
            await asyncio.wait(earlier)
        async with self._write_lock:
            await self._writer.delete([claim for claim in claims if claim.deletion])
            await self._writer.write([one for one in prepared if one.claim in self._claims])
            self._claims.discard(claims)
            self._progress.discard(claims)

    async def _give_back(self, end_claims: Callable[[], Awaitable[None]]) -> None:
        """Ends the claims that are not finished, so that no worker waits for their leases. Stages paid extractions."""
        if self._pool is not None:
            await self._pool.close()
        batches = list(self._batches)
        for batch in batches:
            batch.cancel()
        if batches:
            await asyncio.gather(*batches, return_exceptions=True)
        try:
            await self._staging.flush()
            await end_claims()
        except Unavailable:
            return  # the record does not answer; the leases expire

    def _handle_fenced(self, claims: Sequence[Claim]) -> None:
        self._claims.discard(claims)
        if self._pool is not None and claims:
            self._pool.cancel(claims)


@asynccontextmanager
async def _beside(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Runs work that does not end by itself while the block lasts."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
