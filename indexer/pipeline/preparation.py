"""The first half of a document's way in: load, chunk, extract. Nothing that readers could see is written here."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core import ids
from core.corpora import Corpus
from core.documents import RevisionState, Span
from core.errors import LoadFailed, NotFound, UnsupportedMedia
from core.graph import Extraction
from core.ports.indexing import Chunker, DraftChunk, Extractor, LoadedDocument, Source
from core.ports.record import ChunkRow, Claim, StagedExtraction
from core.trace import Trace
from indexer.backends import Backends
from indexer.loading import loader_for
from indexer.pipeline.chunk_rows import Passage, chunk_rows, chunks_of
from indexer.pipeline.extraction_pool import Asked, AskingPool
from indexer.pipeline.shortfalls import shortfall
from indexer.pipeline.staging import StagingBuffer
from indexer.pipeline.usage import Ledger
from indexer.views.embedded_text import embedded_texts

__all__ = ["Prepared", "Preparer"]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A revision, read and extracted: ready to be embedded and committed. `texts[i]` is what is embedded of a chunk."""

    claim: Claim
    title: str
    rows: tuple[ChunkRow, ...]
    texts: tuple[str, ...]
    extractions: tuple[Extraction, ...]


class Preparer:
    """Prepares claimed revisions of one corpus. Without `pool` the extractor asks no model."""

    def __init__(
        self,
        corpus: Corpus,
        backends: Backends,
        chunker: Chunker,
        extractor: Extractor,
        *,
        ledger: Ledger,
        staging: StagingBuffer,
        pool: AskingPool | None,
    ) -> None:
        self._corpus = corpus
        self._backends = backends
        self._chunker = chunker
        self._extractor = extractor
        self._ledger = ledger
        self._staging = staging
        self._pool = pool

    async def read(self, claims: Sequence[Claim]) -> list[Asked]:
        """Those that could be read, with what was extracted of them before; the others have failed with a reason."""
        read = [one for claim in claims if (one := await self._read(claim)) is not None]
        await self._backends.claims.set_state([one.claim for one in read], RevisionState.EXTRACTING)
        keys = [(one.claim.document_id, hash) for one in read for hash in one.hashes]
        kept = await self._backends.staging.get_staged(self._corpus.id, keys)
        for one in read:
            document_id = one.claim.document_id
            one.found.update({hash: kept[document_id, hash] for hash in one.hashes if (document_id, hash) in kept})
        return read

    async def extract(self, read: Sequence[Asked]) -> list[Prepared]:
        """Those that are whole now; the others have failed, or are paused with their job: its budget is used up, or the
        model refuses every call.
        """
        if self._pool is None:
            for one in read:
                await self._extract(one)
        else:
            await asyncio.gather(*(self._pool.ask(one) for one in read))
        await self._staging.flush()
        for one in read:
            if one.stopped and not one.lost:
                await self._backends.claims.pause([one.claim], str(one.stopped))
        return [prepared for one in read if (prepared := await self._settle(one)) is not None]

    async def _read(self, claim: Claim) -> Asked | None:
        try:
            content = await self._backends.files.get(self._corpus.id, claim.content_hash)
            trace = self._ledger.trace_of(claim)
            return await asyncio.to_thread(self._load_and_chunk, claim, content, trace)
        except (LoadFailed, UnsupportedMedia) as error:
            await self._backends.claims.fail(claim, str(error))
        except NotFound as error:
            await self._backends.claims.fail(
                claim, f"the original bytes are gone; hand the document in again ({error})"
            )
        return None

    def _load_and_chunk(self, claim: Claim, content: bytes, trace: Trace) -> Asked:
        source = Source(
            key=claim.key,
            content=content,
            media_type=claim.media_type,
            title=claim.title,
            metadata=claim.metadata,
        )
        document = loader_for(claim.media_type).load(source)
        chunks = self._chunker.chunk(document, self._backends.embedder.tokens)
        return Asked(
            claim=claim,
            document=document,
            chunks=chunks,
            hashes=[self._hash(document, chunk) for chunk in chunks],
            trace=trace,
        )

    def _hash(self, document: LoadedDocument, chunk: DraftChunk) -> str:
        return ids.digest("extract", [self._extractor.fingerprint, *self._extractor.input_of(document, chunk)])

    async def _extract(self, one: Asked) -> None:
        missing = one.missing
        extractions = await self._extractor.extract(one.document, one.chunks, missing, one.trace)
        for n, extraction in zip(missing, extractions, strict=True):
            one.found[one.hashes[n]] = extraction
            self._staging.add(StagedExtraction(claim=one.claim, extract_hash=one.hashes[n], extraction=extraction))

    async def _settle(self, one: Asked) -> Prepared | None:
        if one.lost or one.stopped:
            return None
        reason = shortfall(one, asks=self._pool is not None)
        if reason:
            await self._backends.claims.fail(one.claim, reason)
            return None
        return await asyncio.to_thread(self._prepared, one)

    def _prepared(self, one: Asked) -> Prepared:
        return Prepared(
            claim=one.claim,
            title=one.document.title,
            rows=self._rows(one),
            texts=tuple(embedded_texts(one.document.title, one.chunks, self._backends.embedder.tokens)),
            extractions=tuple(one.found[hash] for hash in one.hashes),
        )

    def _rows(self, one: Asked) -> tuple[ChunkRow, ...]:
        passages = [
            Passage(
                text=chunk.text,
                heading=chunk.heading,
                page=chunk.page,
                span=_span(chunk),
                tokens=chunk.tokens,
                extract_hash=extract_hash,
            )
            for chunk, extract_hash in zip(one.chunks, one.hashes, strict=True)
        ]
        title, model = one.document.title, self._corpus.settings.embedding_model
        return chunk_rows(title, passages, chunks_of(one.claim.key, title, passages, model))


def _span(chunk: DraftChunk) -> Span | None:
    return None if chunk.start is None else Span(start=chunk.start, end=chunk.start + len(chunk.text))
