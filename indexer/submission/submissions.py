"""Submissions from JSON documents, and the fingerprints by which unchanged submissions are recognised."""

from collections.abc import Mapping
from typing import Any

from core.documents import Metadata, Submission, check_key, check_title
from core.errors import InvalidInput
from core.ids import content_hash, digest
from core.ports.indexing import Source
from core.principals import check_access
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE, canonical_json, check_document
from indexer.submission.given_embeddings import describe_embeddings


def submission_from_json(obj: Mapping[str, Any], *, key: str | None = None) -> Submission:
    """Makes the submission of a document of the API, of a JSON line or of a `.json` file.

    Its content is the canonical JSON of the known fields, so equal documents have equal bytes. The key is `key`, else
    `key` or `id` of the document, else the hash of the content. `access` of the document is no part of the content.
    Raises `InvalidInput`, which names the wrong field.
    """
    document = check_document(obj)
    check_title(document.get("title"))
    own = key if key is not None else _own_key(obj)
    content = _content(document, own if own is None else check_key(own))
    return Submission(
        key=content_hash(content) if own is None else own,
        content=content,
        media_type=DOCUMENT_MEDIA_TYPE,
        title=document.get("title"),
        metadata=document.get("metadata", {}),
        embedded_by=describe_embeddings(document),
        access=check_access(obj.get("access"), "`access`"),
    )


def source_of(submission: Submission) -> Source:
    """Returns a submission as loaders read it."""
    return Source(
        key=submission.key,
        content=submission.content,
        media_type=submission.media_type,
        title=submission.title,
        metadata=submission.metadata,
    )


def access_of(document: object) -> object:
    """Returns the field `access` of a JSON document, unchecked; `check_document` leaves it out."""
    return document.get("access") if isinstance(document, Mapping) else None


def _content(document: Mapping[str, Any], key: str | None) -> bytes:
    try:
        return canonical_json(document)
    except InvalidInput as error:
        if key is None:
            raise
        raise InvalidInput(f"document {key!r}: {error}") from error


def _own_key(obj: Mapping[str, Any]) -> str | None:
    name = "key" if obj.get("key") is not None else "id"
    key = obj.get(name)
    if key is None or isinstance(key, str):
        return key
    raise InvalidInput(f"`{name}` must be a string, not {key!r}; write it in quotes")


def fingerprint(submission: Submission) -> str:
    """Returns a digest of all that makes a revision: the key, the bytes, the media type, the title and the metadata."""
    return fingerprint_of(
        key=submission.key,
        media_type=submission.media_type,
        title=submission.title,
        metadata=submission.metadata,
        content_hash=content_hash(submission.content),
    )


def fingerprint_of(*, key: str, media_type: str, title: str | None, metadata: Metadata, content_hash: str) -> str:
    """Returns the same as `fingerprint`, from the hash of the bytes. `title` is the sender's title."""
    described = [key, media_type, "untitled" if title is None else "=" + title, canonical_json(metadata).decode()]
    return digest("submission", [*described, content_hash])
