"""A prepared revision: the rows and the graph of a document that is ready to be embedded and committed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.documents import Chunk, Metadata, Span
from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk
from core.ports.record import ChunkRow, Claim
from indexer.chunking.embedded_text import embedded_text, fitted_heads
from indexer.pipeline.chunk_rows import ChunkContent, make_chunk_rows, make_chunks
from indexer.pipeline.extracted_graph import ExtractedGraph, make_graph
from indexer.pipeline.extraction.chunked_document import ChunkedDocument

__all__ = ["PreparedRevision", "prepare_revision"]


@dataclass(frozen=True, kw_only=True)
class PreparedRevision:
    """A revision with the graph of all its extractions. `heads` are the heads of embedded texts by heading.

    It holds all that a commit needs and no more: one of a long text takes several times the memory of the text.
    """

    claim: Claim
    title: str
    found_metadata: Metadata
    rows: tuple[ChunkRow, ...]
    heads: Mapping[str, str]
    graph: ExtractedGraph

    def embedded_chunks(self) -> Iterator[tuple[Chunk, str]]:
        """Yields each chunk with its text to embed, which is made only now."""
        for row in self.rows:
            yield row.chunk, embedded_text(self.heads[row.chunk.heading], "", row.chunk.text)


def prepare_revision(document: ChunkedDocument, embedding_model: str, tokens: TokenCounter) -> PreparedRevision:
    """Makes the revision of a document whose extractions are all found. Counts tokens, so it may take a while."""
    title = document.document.title
    contents = [_content(chunk, hash) for chunk, hash in zip(document.chunks, document.hashes, strict=True)]
    chunks = make_chunks(document.claim.key, title, contents, embedding_model)
    graph = make_graph([chunk.id for chunk in chunks], [document.found[hash] for hash in document.hashes])
    return PreparedRevision(
        claim=document.claim,
        title=title,
        found_metadata=document.document.metadata,
        rows=make_chunk_rows(title, contents, chunks),
        heads=fitted_heads(title, {chunk.heading for chunk in chunks}, tokens),
        graph=graph,
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
