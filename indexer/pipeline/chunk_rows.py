"""The rows of a document's chunks. They follow from the key, the title and the contents of the chunks alone.

An import uses the same functions to check rows that were made elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core import ids
from core.documents import HEADING_SEPARATOR, Chunk, Span
from core.passage_context import split_heading
from core.passage_context.row_labels import find_row_labels
from core.ports.record import ChunkRow
from core.text.terms import extract_terms
from core.text.titles import title_names

__all__ = ["ChunkContent", "ChunkMaker", "make_chunk_rows", "make_chunks"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkContent:
    """A chunk without ids. `heading` is the joined path; `extract_hash` is the key of its staged extraction."""

    text: str
    heading: str
    page: int | None
    span: Span | None
    tokens: int
    extract_hash: str


class ChunkMaker:
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
    maker = ChunkMaker(key, title, embedding_model)
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
