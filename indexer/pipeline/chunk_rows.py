"""A document's passages as the record's rows: all that a row has besides what was cut, extracted and counted follows
from the document's key, its title and the passages themselves, so that rows that come from elsewhere can be checked.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core import ids
from core.documents import Chunk, Span
from core.ports.record import ChunkRow
from core.text.terms import extract_terms
from indexer.chunking.packing import HEADING_SEPARATOR
from indexer.chunking.titles import title_names

__all__ = ["Passage", "chunk_rows", "chunks_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A chunk before it has an id: `heading` is the path joined, `extract_hash` what its extraction is kept under."""

    text: str
    heading: str
    page: int | None
    span: Span | None
    tokens: int
    extract_hash: str


def chunks_of(key: str, title: str, passages: Sequence[Passage], embedding_model: str) -> tuple[Chunk, ...]:
    """The chunks of the document `key`, whose passages are all given, in order."""
    seen: Counter[str] = Counter()
    chunks = []
    for position, passage in enumerate(passages):
        id = ids.chunk_id(key, passage.text, seen[passage.text])
        seen[passage.text] += 1
        embedded = ids.embed_hash(title, passage.heading, passage.text, embedding_model)
        chunks.append(
            Chunk(
                id=id,
                document_id=ids.document_id(key),
                view_id=ids.view_id(id, embedded),
                position=position,
                text=passage.text,
                heading=passage.heading,
                page=passage.page,
                span=passage.span,
            )
        )
    return tuple(chunks)


def chunk_rows(title: str, passages: Sequence[Passage], chunks: Sequence[Chunk]) -> tuple[ChunkRow, ...]:
    """The rows of the chunks that `chunks_of` made of these passages, with the words that rankers compare."""
    return tuple(
        ChunkRow(
            chunk=chunk,
            extract_hash=passage.extract_hash,
            tokens=passage.tokens,
            terms=extract_terms((title, passage.heading), passage.text).tobytes(),
            title_names=title_names(title, passage.heading.split(HEADING_SEPARATOR)),
        )
        for passage, chunk in zip(passages, chunks, strict=True)
    )
