"""Documents, their revisions, and the chunks that readers see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from core.errors import InvalidInput
from core.text.characters import NO_CHARACTER, check_text, half_in, is_whole

__all__ = [
    "MAX_KEY_LENGTH",
    "Chunk",
    "Document",
    "DocumentRef",
    "Metadata",
    "OnConflict",
    "RevisionState",
    "Span",
    "Submission",
    "check_key",
    "check_submission",
]

Metadata = Mapping[str, Any]

MAX_KEY_LENGTH = 1024


class RevisionState(StrEnum):
    """Where a revision of a document is on its way; the last four are final until `retry` or a newer revision."""

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
        """A worker holds (or held) a lease on a revision in this state."""
        return self in _IN_WORK

    @property
    def final(self) -> bool:
        """No worker will touch a revision in this state any more."""
        return self in _FINAL


_IN_WORK = frozenset({RevisionState.LOADING, RevisionState.EXTRACTING, RevisionState.WRITING, RevisionState.DELETING})
_FINAL = frozenset({RevisionState.INDEXED, RevisionState.DELETED, RevisionState.FAILED, RevisionState.CANCELLED})


class OnConflict(StrEnum):
    """What happens to a submission whose key exists with other content."""

    REPLACE = "replace"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Span:
    """A half-open range of Unicode code points of a document's text."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A document as it is handed in: the bytes, and what the sender says of them.

    `media_type` chooses the loader. `title` overrides the one that the loader finds.
    """

    key: str
    content: bytes
    media_type: str
    title: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document as readers see it; `state` is that of its newest revision, `readable` tells of a current one apart."""

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


@dataclass(frozen=True, kw_only=True)
class DocumentRef:
    """What a hit tells of the document that it comes from."""

    id: str
    key: str
    title: str
    metadata: Metadata


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A passage of a document. `position` counts from 0; `view_id` names its vector and its text entry."""

    id: str
    document_id: str
    view_id: str
    position: int
    text: str
    heading: str
    page: int | None
    span: Span | None


def check_key(key: str) -> str:
    """Return `key` if it can name a document, else raise `InvalidInput` naming it and the rule.

    A key is data and never a path of ours, but it is shown, exported and used as a relative path by others: so no
    control characters, no absolute path, and no `..` step.
    """
    shown = repr(key if len(key) <= 80 else key[:80] + "…")
    if not key.strip():
        raise InvalidInput("a document's key is empty; give each document a key, or leave it out to have one made")
    if len(key) > MAX_KEY_LENGTH:
        raise InvalidInput(f"document key {shown} has {len(key)} characters; at most {MAX_KEY_LENGTH} are allowed")
    if not is_whole(key):
        raise InvalidInput(f"document key {shown} {NO_CHARACTER} (a file's name that is not UTF-8 holds such halves)")
    if any(ord(c) < 32 or ord(c) == 127 for c in key):
        raise InvalidInput(f"document key {shown} holds a control character; remove it")
    parts = key.replace("\\", "/").split("/")
    if ".." in parts or key.startswith(("/", "\\")):
        raise InvalidInput(
            f"document key {shown} is an absolute path or steps out with '..'; use a plain relative name"
        )
    return key


def check_submission(submission: Submission) -> Submission:
    """Return what was handed in if stores can keep what its sender says of it, else raise `InvalidInput` naming its key
    and the field. The content is the loader's to judge.
    """
    document = f"document {check_key(submission.key)!r}:"
    check_text(submission.media_type, f"{document} its media type")
    check_text(submission.title or "", f"{document} `title`")
    if place := half_in(submission.metadata, "metadata"):
        raise InvalidInput(f"{document} `{place}` {NO_CHARACTER}")
    return submission
