"""Preparation of claimed revisions: load, chunk, extract. Nothing that readers see is written here."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from core import ids
from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import LoadFailed, NotFound, UnsupportedMedia
from core.execution.limits import WorkLimit, check_work
from core.execution.threads import call_in_thread
from core.ports.indexing import Chunker, DraftChunk, Extractor, LoadedDocument, Source
from core.ports.record import Claim, StagedExtraction
from core.trace import Trace
from indexer.backends import IndexingBackends
from indexer.chunking.embedded_text import fit_embeddings
from indexer.loading.kept_pages import pack_pages
from indexer.loading.stated_validity import add_statements
from indexer.pipeline.extraction import Accounting, ChunkedDocument, ExtractionPool, StagingBuffer, find_shortfall
from indexer.pipeline.options import DocumentLimits
from indexer.pipeline.prepared_revision import PreparedRevision, RevisionBuilder
from indexer.pipeline.progress import ProgressReport

_ORIGINAL_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0)
_CHUNKS_AT_ONCE = 512
_SECONDS = "HOPWEAVE_WORKER__DOCUMENT_SECONDS"


class Preparer:
    """Prepares claimed revisions of one corpus. `pool` is None if the extractor calls no model."""

    def __init__(
        self,
        corpus: Corpus,
        backends: IndexingBackends,
        chunker: Chunker,
        extractor: Extractor,
        *,
        accounting: Accounting,
        staging: StagingBuffer,
        progress: ProgressReport,
        limits: DocumentLimits,
    ) -> None:
        self._corpus = corpus
        self._backends = backends
        self._chunker = chunker
        self._extractor = extractor
        self._accounting = accounting
        self._staging = staging
        self._progress = progress
        self._limits = limits
        calls = extractor.model_calls
        self.pool = ExtractionPool(extractor, calls, staging, progress) if calls else None

    async def read(self, claims: Sequence[Claim]) -> list[ChunkedDocument]:
        """Returns the documents that can be read, with the extractions that were staged before. The others fail.

        Those of a document that is extracted in parts are read with each part.
        """
        read = [one for claim in claims if (one := await self._read(claim)) is not None]
        await self._backends.record.claims.set_state([one.claim for one in read], RevisionState.EXTRACTING)
        await self._find_staged([(one, one.hashes) for one in read if not self._is_in_parts(one)])
        for one in read:
            self._progress.begin(one.claim, len(one.hashes), done=one.count_extracted() if self.pool else 0)
        return read

    async def extract(self, documents: list[ChunkedDocument]) -> list[PreparedRevision]:
        """Returns the revisions that are complete now. Empties the list: texts and extractions are not needed later.

        The other revisions fail, or are paused with their job if its budget is used up or the model refuses every call.
        """
        prepared: list[PreparedRevision] = []
        if self.pool is not None:
            await asyncio.gather(*map(self.pool.extract, documents))
            await self._staging.flush()
            for document in documents:
                if document.stopped and not document.fenced:
                    await self._backends.record.claims.pause([document.claim], str(document.stopped))
        documents.reverse()
        prepare = self._extract_at_once if self.pool is None else self._prepare
        while documents:
            prepared += await prepare(documents.pop())
        await self._staging.flush()
        return prepared

    async def _read(self, claim: Claim) -> ChunkedDocument | None:
        limit = WorkLimit(claim.key, self._limits.seconds_of(claim.size), _SECONDS)
        try:
            self._check_size(claim, claim.size, "bytes")
            # Nothing holds the bytes while the text is cut.
            load = partial(self._load, claim, await self._read_original(claim.content_hash), limit)
            document, pages = await call_in_thread(load)
            del load
            if pages is not None:
                await self._backends.files.put_derived(self._corpus.id, claim.content_hash, pages)
            self._check_size(claim, sum(len(block.text) for block in document.blocks), "characters")
            trace = self._accounting.trace_of(claim)
            return await call_in_thread(partial(self._chunk, claim, document, trace, limit))
        except (LoadFailed, UnsupportedMedia) as error:
            await self._backends.record.claims.fail(claim, str(error))
        except NotFound as error:
            await self._backends.record.claims.fail(
                claim, f"the original bytes are gone; hand the document in again ({error})"
            )
        return None

    async def _read_original(self, name: str) -> bytes:
        """Tries again for some seconds: a worker that deletes an orphan restores it if it was submitted meanwhile."""
        for pause in _ORIGINAL_PAUSES:
            try:
                return await self._backends.files.get(self._corpus.id, name)
            except NotFound:
                await asyncio.sleep(pause)
        return await self._backends.files.get(self._corpus.id, name)

    def _check_size(self, claim: Claim, size: int, unit: str) -> None:
        if size > self._limits.content:
            raise LoadFailed(
                f"{claim.key!r} has {size:,} {unit}, and at most {self._limits.content:,} are indexed as one document; "
                "split it, or raise HOPWEAVE_WORKER__DOCUMENT_MB"
            )

    def _load(self, claim: Claim, content: bytes, limit: WorkLimit) -> tuple[LoadedDocument, bytes | None]:
        """Returns the document without its pages, since the blocks have the text; and its pages if they are kept."""
        source = Source(
            key=claim.key,
            content=content,
            media_type=claim.media_type,
            title=claim.title,
            metadata=claim.metadata,
        )
        with limit.running():
            loaded = add_statements(self._backends.loaders.load(source), claim.metadata)
        document = replace(loaded, pages=(), blocks=fit_embeddings(loaded, self._corpus))
        return document, pack_pages(claim.media_type, loaded.pages, loaded.metadata)

    def _chunk(self, claim: Claim, document: LoadedDocument, trace: Trace, limit: WorkLimit) -> ChunkedDocument:
        with limit.running():
            chunks = self._chunker.chunk(document, self._backends.embedder.tokens)
            if len(chunks) > self._limits.chunks:
                raise LoadFailed(
                    f"{claim.key!r} is cut into {len(chunks):,} passages, and at most {self._limits.chunks:,} are "
                    "indexed of one document; split it, or raise HOPWEAVE_WORKER__DOCUMENT_PASSAGES"
                )
            hashes = [self._extract_hash(document, chunk) for chunk in chunks]
        return ChunkedDocument(claim=claim, document=document, chunks=chunks, hashes=hashes, trace=trace, limit=limit)

    def _extract_hash(self, document: LoadedDocument, chunk: DraftChunk) -> str:
        check_work()
        return ids.digest("extract", [self._extractor.fingerprint, *self._extractor.input_of(document, chunk)])

    async def _extract_at_once(self, one: ChunkedDocument) -> list[PreparedRevision]:
        """Returns the revision; [] if it takes too long. The chunks of a long document are extracted in parts. Their
        extractions are staged, and are released once no later chunk has the same input.
        """
        builder = self._make_builder(one)
        count = len(one.chunks)
        last = {hash: n for n, hash in enumerate(one.hashes)}
        try:
            for start in range(0, count, _CHUNKS_AT_ONCE):
                part = range(start, min(start + _CHUNKS_AT_ONCE, count))
                await self._extract_part(one, part)
                await asyncio.to_thread(_add_part, builder, one, part)
                if part.stop < count:
                    await self._staging.flush()
                for n in part:
                    if last[one.hashes[n]] < part.stop:
                        one.found.pop(one.hashes[n], None)
        except LoadFailed as error:
            await self._backends.record.claims.fail(one.claim, str(error))
            return []
        return [await self._build(builder)]

    async def _find_staged(self, wanted: Sequence[tuple[ChunkedDocument, Sequence[str]]]) -> None:
        """Finds the extractions with these hashes that were staged before."""
        if not self._corpus.settings.has_graph:
            return
        keys = [(one.claim.document_id, hash) for one, hashes in wanted for hash in hashes]
        staged = await self._backends.record.staging.get_staged(self._corpus.id, keys)
        for one, hashes in wanted:
            of_one = ((hash, staged.get((one.claim.document_id, hash))) for hash in hashes)
            one.found.update({hash: extraction for hash, extraction in of_one if extraction is not None})

    def _is_in_parts(self, one: ChunkedDocument) -> bool:
        return self.pool is None and len(one.chunks) > _CHUNKS_AT_ONCE

    async def _extract_part(self, one: ChunkedDocument, part: range) -> None:
        if self._is_in_parts(one):
            await self._find_staged([(one, [one.hashes[n] for n in one.missing_in(part)])])
        missing = one.missing_in(part)
        with one.limit.running():
            extractions = await self._extractor.extract(one.document, one.chunks, missing, one.trace)
        for n, extraction in zip(missing, extractions, strict=True):
            one.found[one.hashes[n]] = extraction
            if self._corpus.settings.has_graph:
                self._staging.add(StagedExtraction(claim=one.claim, extract_hash=one.hashes[n], extraction=extraction))

    def _make_builder(self, document: ChunkedDocument) -> RevisionBuilder:
        return RevisionBuilder(document, self._corpus.settings.embedding_model, self._backends.embedder.tokens)

    async def _build(self, builder: RevisionBuilder) -> PreparedRevision:
        """Returns the revision by the schema that the corpus has now."""
        return await asyncio.to_thread(builder.build, await self._backends.read_schema(self._corpus.id))

    async def _prepare(self, document: ChunkedDocument) -> list[PreparedRevision]:
        """Returns the revision; [] if it is not complete."""
        if document.fenced or document.stopped:
            return []
        reason = find_shortfall(document, calls_model=self.pool is not None)
        if reason:
            await self._backends.record.claims.fail(document.claim, reason)
            return []
        builder = self._make_builder(document)
        await asyncio.to_thread(builder.add, range(len(document.chunks)))
        return [await self._build(builder)]


def _add_part(builder: RevisionBuilder, document: ChunkedDocument, part: range) -> None:
    with document.limit.running():
        builder.add(part)
