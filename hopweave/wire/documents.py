"""Documents and their passages, what an ingest has queued, and what it would cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from hopweave.wire.base import Span, doc
from hopweave.wire.jobs import Job
from hopweave.wire.search import PAGE_LABEL
from hopweave.wire.validity import VALIDITY, Validity

__all__ = [
    "AccessChange",
    "Chunk",
    "ChunkList",
    "Deletion",
    "Document",
    "DocumentDetail",
    "DocumentList",
    "DocumentState",
    "Enqueued",
    "Estimate",
    "EstimateNote",
    "ModelEstimate",
    "NeighbouringChunk",
    "PageText",
    "Queued",
    "Rejection",
]

DocumentState: TypeAlias = Literal[
    "queued", "loading", "extracting", "writing", "deleting", "paused", "indexed", "deleted", "failed", "cancelled"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """A document that could not be indexed, by its key, and the reason."""

    source: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEstimate:
    """The calls of a language model. The numbers are as good as the `assumptions`."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EstimateNote:
    """What a loader tells of the document with a key, such as a guessed encoding."""

    key: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """`unchanged` documents are already indexed and cost nothing; `tokens` are those that the embedding model reads.

    `model` is null if the corpus' extractor calls no language model.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimate | None
    rejected: tuple[Rejection, ...]
    notes: tuple[EstimateNote, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Queued:
    """`unchanged` and `skipped` documents made no revision; `state` is their present one."""

    id: str
    key: str
    state: DocumentState
    unchanged: bool
    skipped: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """`state` is that of the newest revision; `readable` tells whether there is a revision that searches see, if the
    document is `enabled`.
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
    access: tuple[str, ...] | None = field(
        metadata=doc("Who may see it; null: everyone who may see the corpus. A key with principals is shown its own.")
    )
    validity: Validity | None = field(default=None, metadata=doc(VALIDITY))


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDetail(Document):
    """A document, and what is found out for one document only."""

    pages: int | None = field(
        metadata=doc("The number of the last page that has passages; null if they have no pages.")
    )
    page_images: bool = field(metadata=doc("Whether `…/pages/{page}/image` has images of the pages."))


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessChange:
    """`documents` have the access now, with attachments; `missing` are the keys that no document has."""

    documents: int
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """`missing` are the keys that no document has."""

    job: Job
    missing: tuple[str, ...]


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
    """A passage with the ones before and after it in its document."""

    previous: Chunk | None
    next: Chunk | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PageText:
    """The text of a page, as the loader reads it. Spans of chunks on this page count its characters."""

    document_id: str
    page: int
    page_label: str = field(default="", metadata=doc(PAGE_LABEL))
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Enqueued:
    """`rejected` are the files of an upload, or lines of them, that were not queued."""

    job: Job
    documents: tuple[Queued, ...]
    rejected: tuple[Rejection, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentList:
    data: tuple[Document, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkList:
    data: tuple[Chunk, ...]
    next_cursor: str | None
