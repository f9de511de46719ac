"""A prepared revision: the rows and the graph of a document that is ready to be embedded and committed.

The rows of chunks follow from the key, the title and the contents of the chunks alone. They are kept compressed, since
a long text has many.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from core import ids
from core.documents import HEADING_SEPARATOR, Chunk, Metadata, Span
from core.graph import FitTally
from core.graph_schema import NO_SCHEMA, GraphSchema
from core.passage_context import split_heading
from core.passage_context.row_labels import find_row_labels
from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk
from core.ports.record import ChunkRow, Claim
from core.text.terms import extract_terms
from core.text.titles import title_names
from indexer.chunking.batches import MadeSequence
from indexer.chunking.embedded_text import embedded_text, fitted_heads
from indexer.pipeline.extracted_graph import ExtractedGraph, GraphBuilder, apply_schema
from indexer.pipeline.extraction import ChunkedDocument


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkContent:
    """A chunk without ids. `heading` is the joined path; `extract_hash` is the key of its staged extraction."""

    text: str
    heading: str
    page: int | None
    span: Span | None
    tokens: int
    extract_hash: str


class _ChunkMaker:
    """Makes the chunks of the document `key`, in order."""

    def __init__(self, key: str, title: str, embedding_model: str) -> None:
        self._key = key
        self._title = title
        self._model = embedding_model
        self._document_id = ids.document_id(key)
        self._seen: dict[bytes, int] = {}
        """How often each text was seen, by the id of its first chunk; the texts themselves would stay in memory."""
        self._position = 0

    def make(self, content: ChunkContent) -> Chunk:
        """Makes the next chunk."""
        id = ids.chunk_id(self._key, content.text, 0)
        first = bytes.fromhex(id)
        seen = self._seen.get(first, 0)
        self._seen[first] = seen + 1
        if seen:
            id = ids.chunk_id(self._key, content.text, seen)
        embedded = ids.embed_hash(self._title, content.heading, content.text, self._model)
        self._position += 1
        return Chunk(
            id=id,
            document_id=self._document_id,
            view_id=ids.view_id(id, embedded),
            position=self._position - 1,
            text=content.text,
            heading=content.heading,
            page=content.page,
            span=content.span,
        )


def make_chunks(key: str, title: str, contents: Sequence[ChunkContent], embedding_model: str) -> tuple[Chunk, ...]:
    """Makes the chunks of the document `key`. `contents` are all its chunks, in order."""
    maker = _ChunkMaker(key, title, embedding_model)
    return tuple(maker.make(content) for content in contents)


def make_chunk_rows(title: str, contents: Sequence[ChunkContent], chunks: Sequence[Chunk]) -> tuple[ChunkRow, ...]:
    """Makes the rows of the chunks that `make_chunks` made of these contents, with the terms that rankers compare."""
    return tuple(
        ChunkRow(
            chunk=chunk,
            extract_hash=content.extract_hash,
            tokens=content.tokens,
            terms=_terms(title, content.heading, content.text),
            title_names=_title_names(title, split_heading(content.heading, content.text)[0]),
        )
        for content, chunk in zip(contents, chunks, strict=True)
    )


@lru_cache(maxsize=1 << 12)
def _terms(title: str, heading: str, text: str) -> bytes:
    """Most chunks of a new revision of a document are the same, and so are their terms."""
    return extract_terms((title, heading), text, find_row_labels(text)).tobytes()


@lru_cache(maxsize=64)
def _title_names(title: str, heading: str) -> tuple[str, ...]:
    """The chunks of a section have the same names, as the same objects."""
    return title_names(title, heading.split(HEADING_SEPARATOR))


_ROWS_OF_A_BLOCK = 256
_LEVEL = 1


class RowTable(MadeSequence[ChunkRow]):
    """Rows of one document in order, which are made when they are read; reading them one after another is cheap.

    The rows of a short document, and the last rows of a long document, are kept as they are.
    """

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._last: list[ChunkRow] = []

    def extend(self, rows: Iterable[ChunkRow]) -> None:
        for row in rows:
            if len(self._last) == _ROWS_OF_A_BLOCK:
                self._blocks.append(_pack(self._last))
                self._last = []
            self._last.append(row)

    def __len__(self) -> int:
        return len(self._blocks) * _ROWS_OF_A_BLOCK + len(self._last)

    def __iter__(self) -> Iterator[ChunkRow]:
        for block in self._blocks:
            yield from _unpack(block)
        yield from self._last

    def make(self, n: int) -> ChunkRow:
        block, place = divmod(n, _ROWS_OF_A_BLOCK)
        return _unpack(self._blocks[block])[place] if block < len(self._blocks) else self._last[place]


def _pack(rows: Sequence[ChunkRow]) -> bytes:
    """Returns the rows as compressed bytes. The terms stand behind all other fields, which are JSON on one line."""
    fields = json.dumps([_fields(row) for row in rows], separators=(",", ":"))
    return zlib.compress(b"\n".join([fields.encode("ascii"), b"".join(row.terms for row in rows)]), _LEVEL)


def _fields(row: ChunkRow) -> list[Any]:
    chunk = row.chunk
    return [
        chunk.id,
        chunk.document_id,
        chunk.view_id,
        chunk.position,
        chunk.text,
        chunk.heading,
        chunk.page,
        chunk.span and [chunk.span.start, chunk.span.end],
        row.extract_hash,
        row.tokens,
        len(row.terms),
        row.title_names,
    ]


def _unpack(block: bytes) -> list[ChunkRow]:
    fields, _, terms = zlib.decompress(block).partition(b"\n")
    rows = []
    at = 0
    for id, document_id, view_id, position, text, heading, page, span, extract_hash, tokens, size, names in json.loads(
        fields
    ):
        chunk = Chunk(
            id=id,
            document_id=document_id,
            view_id=view_id,
            position=position,
            text=text,
            heading=heading,
            page=page,
            span=span and Span(start=span[0], end=span[1]),
        )
        rows.append(
            ChunkRow(
                chunk=chunk,
                extract_hash=extract_hash,
                tokens=tokens,
                terms=terms[at : at + size],
                title_names=tuple(names),
            )
        )
        at += size
    return rows


@dataclass(frozen=True, kw_only=True)
class PreparedRevision:
    """A revision with the graph of all its extractions. `heads` are the heads of embedded texts by heading, `vectors`
    the embeddings that came with the document, as 32-bit floats by view id. `fits` counts the facts of the document by
    the schema of the corpus, before a strict schema leaves some out.

    It holds all that a commit needs and no more. That of a long text takes about twice the memory of the text.
    """

    claim: Claim
    title: str
    found_metadata: Metadata
    rows: Sequence[ChunkRow]
    heads: Mapping[str, str]
    graph: ExtractedGraph
    fits: FitTally = field(default_factory=FitTally)
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
        self._maker = _ChunkMaker(document.claim.key, self._title, embedding_model)
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

    def build(self, schema: GraphSchema = NO_SCHEMA) -> PreparedRevision:
        """Returns the revision of all chunks, without facts that a strict schema does not allow. Counts tokens, so it
        may take a while.
        """
        graph, fits = apply_schema(self._graph.build(), schema)
        return PreparedRevision(
            claim=self._document.claim,
            title=self._title,
            found_metadata=self._document.document.metadata,
            rows=self._rows,
            heads=fitted_heads(self._title, self._headings, self._tokens),
            graph=graph,
            fits=fits,
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
