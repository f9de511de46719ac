"""A prepared revision: the rows and the graph of a document that is ready to be embedded and committed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.documents import Chunk, Metadata, Span
from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk
from core.ports.record import ChunkRow, Claim
from indexer.chunking.embedded_text import embedded_text, fitted_heads
from indexer.pipeline.chunk_rows import ChunkContent, ChunkMaker, make_chunk_rows
from indexer.pipeline.extracted_graph import ExtractedGraph, GraphBuilder
from indexer.pipeline.extraction.chunked_document import ChunkedDocument
from indexer.pipeline.row_table import RowTable

__all__ = ["PreparedRevision", "RevisionBuilder"]


@dataclass(frozen=True, kw_only=True)
class PreparedRevision:
    """A revision with the graph of all its extractions. `heads` are the heads of embedded texts by heading, `vectors`
    the embeddings that came with the document, as 32-bit floats by view id.

    It holds all that a commit needs and no more. That of a long text takes about twice the memory of the text.
    """

    claim: Claim
    title: str
    found_metadata: Metadata
    rows: Sequence[ChunkRow]
    heads: Mapping[str, str]
    graph: ExtractedGraph
    vectors: Mapping[str, bytes] = field(default_factory=dict)

    def embedded_chunks(self) -> Iterator[tuple[Chunk, str]]:
        """Yields each chunk with its text to embed, which is made only now."""
        for row in self.rows:
            yield row.chunk, embedded_text(self.heads[row.chunk.heading], "", row.chunk.text)


class RevisionBuilder:
    """Makes the revision of a document, some chunks at a time, so that their extractions can be dropped."""

    def __init__(self, document: ChunkedDocument, embedding_model: str, tokens: TokenCounter) -> None:
        self._document = document
        self._title = document.document.title
        self._tokens = tokens
        self._maker = ChunkMaker(document.claim.key, self._title, embedding_model)
        self._rows = RowTable()
        self._headings: set[str] = set()
        self._graph = GraphBuilder()
        self._vectors: dict[str, bytes] = {}

    def add(self, part: range) -> None:
        """Adds the next chunks, by index. Their extractions are found."""
        document = self._document
        contents = [_content(document.chunks[n], document.hashes[n]) for n in part]
        rows = make_chunk_rows(self._title, contents, [self._maker.make(content) for content in contents])
        for n, row in zip(part, rows, strict=True):
            self._graph.add(row.chunk.id, document.found[row.extract_hash])
            if embedding := document.document.blocks[document.chunks[n].block].embedding:
                self._vectors[row.chunk.view_id] = embedding
        self._rows.extend(rows)
        self._headings.update(content.heading for content in contents)

    def build(self) -> PreparedRevision:
        """Returns the revision of all chunks. Counts tokens, so it may take a while."""
        return PreparedRevision(
            claim=self._document.claim,
            title=self._title,
            found_metadata=self._document.document.metadata,
            rows=self._rows,
            heads=fitted_heads(self._title, self._headings, self._tokens),
            graph=self._graph.build(),
            vectors=self._vectors,
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
