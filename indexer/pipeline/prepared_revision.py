"""A prepared revision: the rows, texts and extractions of a document that is ready to be embedded and committed."""

from dataclasses import dataclass

from core.documents import Metadata, Span
from core.graph import Extraction
from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk
from core.ports.record import ChunkRow, Claim
from indexer.chunking.embedded_text import embedded_texts
from indexer.pipeline.chunk_rows import ChunkContent, make_chunk_rows, make_chunks
from indexer.pipeline.extraction.chunked_document import ChunkedDocument

__all__ = ["PreparedRevision", "prepare_revision"]


@dataclass(frozen=True, kw_only=True)
class PreparedRevision:
    """A revision with all its extractions. `texts[i]` is the text to embed for `rows[i]`."""

    claim: Claim
    title: str
    found_metadata: Metadata
    rows: tuple[ChunkRow, ...]
    texts: tuple[str, ...]
    extractions: tuple[Extraction, ...]


def prepare_revision(document: ChunkedDocument, embedding_model: str, tokens: TokenCounter) -> PreparedRevision:
    """Makes the revision of a document whose extractions are all found. Counts tokens, so it may take a while."""
    title = document.document.title
    contents = [_content(chunk, hash) for chunk, hash in zip(document.chunks, document.hashes, strict=True)]
    chunks = make_chunks(document.claim.key, title, contents, embedding_model)
    return PreparedRevision(
        claim=document.claim,
        title=title,
        found_metadata=document.document.metadata,
        rows=make_chunk_rows(title, contents, chunks),
        texts=tuple(embedded_texts(title, document.chunks, tokens)),
        extractions=tuple(document.found[hash] for hash in document.hashes),
    )


def _content(chunk: DraftChunk, extract_hash: str) -> ChunkContent:
    return ChunkContent(
        text=chunk.text,
        heading=chunk.heading,
        page=chunk.page,
        span=None if chunk.start is None else Span(start=chunk.start, end=chunk.start + len(chunk.text)),
        tokens=chunk.tokens,
        extract_hash=extract_hash,
    )
