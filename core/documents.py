"""Documents, their revisions and chunks, and the checks of what is submitted."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.errors import InvalidInput
from core.filters import DocumentFilter
from core.principals import DocumentAccess, check_access
from core.text.characters import NO_CHARACTER, check_text, find_half, is_valid_text

Metadata = Mapping[str, Any]

LOADER_NOTES = "loader_notes"
"""The field of a document's metadata with what a loader has to tell its user, such as a guessed encoding."""

READ_BY = "read_by"
"""The field of a document's metadata that names the program that read it in place of a loader: `docling`."""

HEADING_SEPARATOR = " › "
"""Separates the parts of a chunk's heading path. The last part is the nearest heading."""

MAX_KEY_LENGTH = 1024
KEY_PATTERN = r"^(?![/\\])(?!(?:[^/\\]*[/\\])*\.\.(?:[/\\]|$))[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f\x85][^\x00-\x1f\x7f]*$"
"""What `check_key` accepts, for descriptions: JSON schema knows no message."""
MAX_TITLE_LENGTH = 1000
MAX_METADATA_LENGTH = 64_000
"""Characters of names and values of a document's metadata. Each hit of a search and each row of a list has them."""
MAX_METADATA_VALUES = 1000
"""Values of a document's metadata, with the values inside of lists and objects."""

_WORD = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_PARAMETER = rf'[ \t]*;[ \t]*{_WORD}=(?:{_WORD}|"[ !#-\[\]-~]*")'
_MEDIA_TYPE = re.compile(rf"{_WORD}/{_WORD}(?:{_PARAMETER})*")
_MAX_MEDIA_TYPE_LENGTH = 255


class RevisionState(StrEnum):
    """The state of a revision. The last four are final until a retry or a newer revision."""

    QUEUED = "queued"
    LOADING = "loading"
    EXTRACTING = "extracting"
    WRITING = "writing"
    DELETING = "deleting"
    PAUSED = "paused"
    INDEXED = "indexed"
    DELETED = "deleted"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def in_work(self) -> bool:
        """Whether a worker has (or had) a lease on a revision in this state."""
        return self in _IN_WORK

    @property
    def final(self) -> bool:
        """Whether no worker will process a revision in this state."""
        return self in _FINAL


_IN_WORK = frozenset({RevisionState.LOADING, RevisionState.EXTRACTING, RevisionState.WRITING, RevisionState.DELETING})
_FINAL = frozenset({RevisionState.INDEXED, RevisionState.DELETED, RevisionState.FAILED, RevisionState.CANCELLED})


class OnConflict(StrEnum):
    """How a submission is treated whose key exists with other content. What is unchanged is no conflict."""

    REPLACE = "replace"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A half-open range of Unicode code points in the text of a page, or of a document that has no pages."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedBy:
    """The model and the dimension of embeddings that come with a document."""

    model: str
    dimension: int


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A document that is submitted for indexing: its bytes, and what the sender states about them.

    `media_type` chooses the loader. `title` replaces the title that the loader finds. `embedded_by` tells that the
    content has the embeddings of its passages. `access` says who may see the document; None: who sees it now, and
    everyone if it is new.
    """

    key: str
    content: bytes
    media_type: str
    title: str | None = None
    metadata: Metadata = field(default_factory=dict)
    embedded_by: EmbeddedBy | None = None
    access: DocumentAccess = None


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document as readers see it.

    `state` is the state of its newest revision; `readable` says whether an indexed revision is current. A document that
    is not `enabled` is kept, and no search, question or walk in the graph sees it. `malformed_triples` counts the
    triples that were skipped, `size` is in bytes. `access` says who may see it (`core.principals`); a caller with
    principals is shown only its own.
    """

    id: str
    key: str
    title: str
    metadata: Metadata
    state: RevisionState
    reason: str | None
    readable: bool
    chunks: int
    malformed_triples: int
    media_type: str
    size: int
    content_hash: str
    updated_at: datetime
    enabled: bool = True
    access: DocumentAccess = None


@dataclass(frozen=True, kw_only=True)
class DocumentRef:
    """The fields of a document that a hit contains, and who may see it (`access`), which no hit shows."""

    id: str
    key: str
    title: str
    metadata: Metadata
    access: DocumentAccess = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A passage of a document. `position` counts from 0; `view_id` is the id of its vector and its text entry."""

    id: str
    document_id: str
    view_id: str
    position: int
    text: str
    heading: str
    page: int | None
    span: Span | None


def loader_notes(metadata: Metadata) -> list[str]:
    """Returns what the loader of a document has to tell its user."""
    notes = metadata.get(LOADER_NOTES)
    return [str(note) for note in notes] if isinstance(notes, list) else []


def check_key(key: str) -> str:
    """Returns `key` if a document can have it; raises `InvalidInput`, naming it and the rule, if not.

    Hopweave never uses a key as a path. Others do, since keys are shown and exported: so control characters, absolute
    paths and `..` steps are refused.
    """
    shown = repr(key if len(key) <= 80 else key[:80] + "…")
    if not key.strip():
        raise InvalidInput("a document's key is empty; give each document a key, or leave it out to have one made")
    if len(key) > MAX_KEY_LENGTH:
        raise InvalidInput(f"document key {shown} has {len(key)} characters; at most {MAX_KEY_LENGTH} are allowed")
    if not is_valid_text(key):
        remedy = "a file's name that is not UTF-8 holds such halves; rename the file"
        raise InvalidInput(f"document key {shown} {NO_CHARACTER} ({remedy})")
    if any(ord(c) < 32 or ord(c) == 127 for c in key):
        raise InvalidInput(f"document key {shown} holds a control character; remove it, or rename the file")
    parts = key.replace("\\", "/").split("/")
    if ".." in parts or key.startswith(("/", "\\")):
        raise InvalidInput(
            f"document key {shown} is an absolute path or steps out with '..'; use a plain relative name"
        )
    return key


def check_title(title: str | None, document: str = "the document's") -> None:
    """Raises `InvalidInput` if the title that a sender gives is too long. `document` begins the message."""
    if title is not None and len(title) > MAX_TITLE_LENGTH:
        raise InvalidInput(
            f"{document} `title` has {len(title):,} characters; at most {MAX_TITLE_LENGTH:,} are allowed"
        )


def is_media_type(text: str) -> bool:
    """Returns whether a text is a media type of RFC 9110, with or without parameters, that a header can hold."""
    return len(text) <= _MAX_MEDIA_TYPE_LENGTH and _MEDIA_TYPE.fullmatch(text) is not None


def check_media_type(media_type: str) -> str:
    """Returns a media type, or raises `InvalidInput` if a header cannot hold it."""
    if not is_media_type(media_type):
        raise InvalidInput(f"{media_type[:80]!r} is not a media type; one is written as `text/plain`")
    return media_type


def check_submission(submission: Submission) -> Submission:
    """Returns the submission if stores can keep its fields; raises `InvalidInput`, naming its key and the field, if
    not.

    The content is checked by the loader.
    """
    document = f"document {check_key(submission.key)!r}:"
    check_text(submission.media_type, f"{document} its media type")
    check_text(submission.title or "", f"{document} `title`")
    check_title(submission.title, document)
    if place := find_half(submission.metadata, "metadata"):
        raise InvalidInput(f"{document} `{place}` {NO_CHARACTER}")
    check_metadata(submission.metadata, document)
    check_access(submission.access, f"{document} `access`")
    return submission


def check_metadata(metadata: Metadata, document: str) -> None:
    """Raises `InvalidInput`, which begins with `document`, if metadata have too many values or characters."""
    values, characters = measure_metadata(metadata)
    if values > MAX_METADATA_VALUES:
        raise InvalidInput(f"{document} `metadata` has {values:,} values; at most {MAX_METADATA_VALUES:,} are allowed")
    if characters > MAX_METADATA_LENGTH:
        raise InvalidInput(
            f"{document} `metadata` has {characters:,} characters; at most {MAX_METADATA_LENGTH:,} are allowed"
        )


def measure_metadata(value: object) -> tuple[int, int]:
    """Returns how many values there are in a value of metadata, and the characters of these and of their names."""
    values, characters = 0, 0
    remaining = [value]
    while remaining:
        one = remaining.pop()
        values += 1
        if isinstance(one, Mapping):
            characters += sum(len(str(name)) for name in one)
            remaining += one.values()
        elif isinstance(one, list | tuple):
            remaining += one
        else:
            characters += len(one) if isinstance(one, str) else 8
    return values, characters


def matches(where: DocumentFilter, document: Document | DocumentRef) -> bool:
    return where.matches(
        id=document.id,
        key=document.key,
        title=document.title,
        metadata=document.metadata,
        access=document.access,
    )
