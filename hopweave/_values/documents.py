"""Documents and their chunks: those to ingest, and those that a corpus has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

__all__ = [
    "Chunk",
    "Document",
    "DocumentDetail",
    "DocumentState",
    "NeighbouringChunk",
    "NewChunk",
    "NewDocument",
    "NewFile",
    "OnConflict",
    "Queued",
    "Rejection",
    "Span",
]

DocumentState: TypeAlias = Literal[
    "queued", "loading", "extracting", "writing", "deleting", "paused", "indexed", "deleted", "failed", "cancelled"
]
OnConflict: TypeAlias = Literal["replace", "skip", "error"]
"""What happens to a document whose key is there with other content."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A half-open range, in Unicode code points."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NewChunk:
    """A passage of a `NewDocument` that was cut already. A triple is `[subject, predicate, object]`. `embedding` is the
    passage's vector, as numbers or Base64 of 32-bit floats.
    """

    text: str
    page: int | None = None
    entities: tuple[str, ...] = ()
    triples: tuple[Any, ...] = ()
    embedding: Sequence[float] | str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDocument:
    """A document to ingest, with `text`, `chunks` or `content`. Its default key is the hash of its content.

    `media_type` chooses the loader of `text` or `content`, such as `text/markdown`. `content` is in Base64 and needs
    it; a `NewFile` is the shorter way. `embedding` is the vector of the text, as in a `NewChunk`, and needs
    `embedding_model`, as do those of `chunks`: the name of the corpus' model, which then is not called.
    """

    key: str | None = None
    title: str | None = None
    text: str | None = None
    chunks: tuple[NewChunk, ...] | None = None
    content: str | None = None
    media_type: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    triples: tuple[Any, ...] = ()
    embedding: Sequence[float] | str | None = None
    embedding_model: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NewFile:
    """A file to ingest, by its bytes. `name` is its default key, and its suffix chooses the loader.

    `media_type` chooses the loader instead. `title` and `metadata` take precedence over those in the file.
    """

    name: str
    content: bytes
    key: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    media_type: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Queued:
    """A document that was sent. `unchanged` and `skipped` ones made no revision; their state is the present one."""

    id: str
    key: str
    state: DocumentState
    unchanged: bool
    skipped: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """A file, or a line of one, that was not sent: `source` names the place, `reason` says why."""

    source: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """`state` is that of the newest revision; `readable` tells whether there is a current one, which searches see if
    the document is `enabled`.
    """

    id: str
    key: str
    title: str
    metadata: Mapping[str, Any]
    state: DocumentState
    reason: str | None
    readable: bool
    chunks: int
    malformed_triples: int
    media_type: str
    size: int
    content_hash: str
    updated_at: datetime
    enabled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDetail(Document):
    """`pages` is the number of the last page that has passages, or None if they have no pages; `page_images` tells
    whether there are images of the pages.
    """

    pages: int | None
    page_images: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A passage of a document."""

    id: str
    document_id: str
    position: int
    text: str
    heading: str
    page: int | None
    span: Span | None


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighbouringChunk(Chunk):
    """A passage with those before and after it in its document."""

    previous: Chunk | None
    next: Chunk | None
