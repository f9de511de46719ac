"""The first half of a document's way in: load, chunk, extract. Nothing that readers could see is written here."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core import ids
from core.corpora import Corpus
from core.documents import Chunk, RevisionState, Span
from core.errors import LoadFailed, NotFound, UnsupportedMedia
from core.graph import Extraction
from core.ports.indexing import Chunker, DraftChunk, Extractor, LoadedDocument, Source
from core.ports.record import ChunkRow, Claim, Staged
from core.terms import terms_of
from indexer.backends import Backends
from indexer.embedded_text import embedded_texts
from indexer.loading import loader_for
from indexer.titles import title_names

__all__ = ["Prepared", "Preparer"]

_SLICE = 64  # chunks whose extractions are staged together


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A revision, read and extracted: ready to be embedded and committed. `texts[i]` is what is embedded of a chunk."""

    claim: Claim
    title: str
    rows: tuple[ChunkRow, ...]
    texts: tuple[str, ...]
    extractions: tuple[Extraction, ...]


class Preparer:
    """Prepares claimed revisions of one corpus."""

    def __init__(self, corpus: Corpus, backends: Backends, chunker: Chunker, extractor: Extractor) -> None:
        self._corpus = corpus
        self._backends = backends
        self._chunker = chunker
        self._extractor = extractor

    async def prepare(self, claims: Sequence[Claim]) -> list[Prepared]:
        """Those that could be read; the others have failed with a reason that names the remedy."""
        read = [one for claim in claims if (one := await self._read(claim)) is not None]
        await self._backends.work.advance([claim for claim, _, _ in read], RevisionState.EXTRACTING)
        keys = [(claim.document_id, self._hash(document, c)) for claim, document, chunks in read for c in chunks]
        kept = await self._backends.work.staged(self._corpus.id, keys)
        prepared, staged = [], list[Staged]()
        for claim, document, chunks in read:
            prepared.append(await self._extract(claim, document, chunks, kept, staged))
        if staged:
            await self._backends.work.stage(staged)
        return prepared

    async def _read(self, claim: Claim) -> tuple[Claim, LoadedDocument, list[DraftChunk]] | None:
        try:
            content = await self._backends.files.get(self._corpus.id, claim.content_hash)
            return claim, *await asyncio.to_thread(self._load_and_chunk, claim, content)
        except (LoadFailed, UnsupportedMedia) as error:
            await self._backends.work.fail(claim, str(error))
        except NotFound as error:
            await self._backends.work.fail(claim, f"the original bytes are gone; hand the document in again ({error})")
        return None

    def _load_and_chunk(self, claim: Claim, content: bytes) -> tuple[LoadedDocument, list[DraftChunk]]:
        source = Source(
            key=claim.key,
            content=content,
            media_type=claim.media_type,
            title=claim.title,
            metadata=claim.metadata,
        )
        document = loader_for(claim.media_type).load(source)
        return document, self._chunker.chunk(document, self._backends.embedder.tokens)

    def _hash(self, document: LoadedDocument, chunk: DraftChunk) -> str:
        return ids.digest("extract", [self._extractor.fingerprint, *self._extractor.input_of(document, chunk)])

    async def _extract(
        self,
        claim: Claim,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        kept: Mapping[tuple[str, str], Extraction],
        staged: list[Staged],
    ) -> Prepared:
        """Extract what is not kept yet; every full slice of new extractions is staged before more is paid for."""
        hashes = [self._hash(document, chunk) for chunk in chunks]
        found = {hash: kept[claim.document_id, hash] for hash in hashes if (claim.document_id, hash) in kept}
        missing = [n for n, hash in enumerate(hashes) if hash not in found]
        for start in range(0, len(missing), _SLICE):
            wanted = missing[start : start + _SLICE]
            extractions = await self._extractor.extract(document, chunks, wanted)
            for n, extraction in zip(wanted, extractions, strict=True):
                found[hashes[n]] = extraction
                staged.append(Staged(claim=claim, extract_hash=hashes[n], extraction=extraction))
            if len(staged) >= _SLICE:
                await self._backends.work.stage(staged)
                staged.clear()
        return Prepared(
            claim=claim,
            title=document.title,
            rows=await asyncio.to_thread(self._rows, claim, document, chunks, hashes),
            texts=tuple(embedded_texts(document.title, chunks, self._backends.embedder.tokens)),
            extractions=tuple(found[hash] for hash in hashes),
        )

    def _rows(
        self, claim: Claim, document: LoadedDocument, chunks: Sequence[DraftChunk], hashes: Sequence[str]
    ) -> tuple[ChunkRow, ...]:
        title = document.title
        occurrences: dict[str, int] = {}
        rows = []
        for position, (chunk, extract_hash) in enumerate(zip(chunks, hashes, strict=True)):
            occurrence = occurrences.get(chunk.text, 0)
            occurrences[chunk.text] = occurrence + 1
            id = ids.chunk_id(claim.key, chunk.text, occurrence)
            embedded = ids.embed_hash(title, chunk.heading, chunk.text, self._corpus.settings.embedding_model)
            rows.append(
                ChunkRow(
                    chunk=Chunk(
                        id=id,
                        document_id=claim.document_id,
                        view_id=ids.view_id(id, embedded),
                        position=position,
                        text=chunk.text,
                        heading=chunk.heading,
                        page=chunk.page,
                        span=_span(chunk),
                    ),
                    extract_hash=extract_hash,
                    tokens=chunk.tokens,
                    terms=terms_of((title, chunk.heading), chunk.text).tobytes(),
                    title_names=title_names(title, document.blocks[chunk.block].heading),
                )
            )
        return tuple(rows)


def _span(chunk: DraftChunk) -> Span | None:
    return None if chunk.start is None else Span(start=chunk.start, end=chunk.start + len(chunk.text))
