"""Documents of a corpus, their pages and chunks: list, get, change, delete, retry."""

import json
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from hopweave._steps import Steps, call, call_pages, path, request
from hopweave.wire.documents import (
    AccessChange,
    Chunk,
    ChunkList,
    Deletion,
    Document,
    DocumentDetail,
    DocumentList,
    DocumentState,
    Enqueued,
    NeighbouringChunk,
    PageText,
)
from hopweave.wire.jobs import Job, Started
from hopweave.wire.validity import DocumentDifferences

__all__ = [
    "change_document",
    "compare_documents",
    "delete_documents",
    "get_chunk",
    "get_content",
    "get_document",
    "get_page",
    "get_page_image",
    "list_chunks",
    "list_documents",
    "retry_document",
    "set_access",
]


def list_documents(
    corpus: str,
    *,
    key: str | None = None,
    state: DocumentState | None = None,
    filter: Mapping[str, Any] | None = None,
    enabled: bool | None = None,
    limit: int | None = None,
) -> Steps[list[Document]]:
    """Returns the documents of a corpus, by key: all, or those with this key or state, or the first `limit`.

    `filter` is a metadata filter, which only documents match that have an indexed revision. With `enabled` only those
    that are enabled, or that are not.
    """
    where = None if filter is None else json.dumps(filter, allow_nan=False)
    selected = {"key": key, "state": state, "filter": where, "enabled": enabled if enabled is None else int(enabled)}
    return call_pages(DocumentList, path("corpora", corpus, "documents"), limit=limit, **selected)


def get_document(corpus: str, document: str) -> Steps[DocumentDetail]:
    """Returns the document with this id."""
    return call(DocumentDetail, "GET", path("corpora", corpus, "documents", document))


def change_document(
    corpus: str,
    document: str,
    *,
    title: str | EllipsisType | None = ...,
    metadata: Mapping[str, Any] | None = None,
    enabled: bool | None = None,
    access: Sequence[str] | EllipsisType | None = ...,
) -> Steps[Job]:
    """Changes the title or the metadata of the document with this id, enables or disables it, says who may see it, and
    returns the job.

    A document that is not enabled is invisible to searches, at once, until it is enabled again; nothing is embedded
    for that. What is not given stays. `metadata` are merged into those that were sent: None deletes a field.
    `title=None` brings back the title of the document's text. Raises `ConflictError` for a title or metadata unless the
    newest revision is indexed. `access` are the principals that may see it, at once: None for everyone who may see the
    corpus, () for nobody but callers without principals.
    """
    body: dict[str, Any] = {} if title is ... else {"title": title}
    if metadata is not None:
        body["metadata"] = metadata
    if enabled is not None:
        body["enabled"] = enabled
    if access is not ...:
        body["access"] = None if access is None else list(access)
    return (yield from call(Enqueued, "PATCH", path("corpora", corpus, "documents", document), body)).job


def compare_documents(corpus: str, document: str, since: str | None = None) -> Steps[DocumentDifferences]:
    """Returns what changed, clause by clause, from the document `since` (its key or id) to the document with this id.

    Without `since` it is the only document that this one supersedes. Raises `InvalidRequestError` if there is none, or
    several.
    """
    at = path("corpora", corpus, "documents", document, "differences")
    return call(DocumentDifferences, "GET", at, since=since)


def get_content(corpus: str, document: str) -> Steps[bytes]:
    """Returns the original bytes of the document with this id."""
    content: bytes = yield request("GET", path("corpora", corpus, "documents", document, "content"))
    return content


def get_page(corpus: str, document: str, page: int = 1) -> Steps[str]:
    """Returns the text of a page of the document with this id, loaded from its original.

    A document without pages has page 1. Spans of chunks count the characters of this text.
    """
    at = path("corpora", corpus, "documents", document, "pages", str(page))
    return (yield from call(PageText, "GET", at)).text


def get_page_image(
    corpus: str, document: str, page: int = 1, *, width: int | None = None, mark: str | None = None
) -> Steps[bytes]:
    """Returns a page of the PDF file with this id as an image in PNG, 900 pixels wide or `width` (100 to 2,000).

    The words of `mark`, a text of up to 4,000 characters, are highlighted. Raises `InvalidRequestError` for a document
    of another kind.
    """
    at = path("corpora", corpus, "documents", document, "pages", str(page), "image")
    image: bytes = yield request("GET", at, width=width, mark=mark)
    return image


def delete_documents(
    corpus: str, keys: Sequence[str] | None = None, *, filter: Mapping[str, Any] | None = None
) -> Steps[Deletion]:
    """Starts deleting documents, by key (1 to 1,000 of them) or by a metadata filter. They are invisible at once.

    Returns the job, and the keys that no document has; the others are deleted.
    """
    body = {"keys": None if keys is None else list(keys), "filter": filter}
    given = {name: value for name, value in body.items() if value is not None}
    return call(Deletion, "POST", path("corpora", corpus, "documents", "delete"), given)


def set_access(
    corpus: str,
    access: Sequence[str] | None,
    keys: Sequence[str] | None = None,
    *,
    filter: Mapping[str, Any] | None = None,
) -> Steps[AccessChange]:
    """Says who may see documents, by key (1 to 1,000 of them) or by a metadata filter, at once. Nothing is embedded.

    `access` are principals, such as `group:legal`: None for everyone who may see the corpus, () for nobody but callers
    without principals. Returns how many documents have it now, with the attachments of mails, and the keys that no
    document has.
    """
    body = {"keys": None if keys is None else list(keys), "filter": filter}
    given: dict[str, Any] = {name: value for name, value in body.items() if value is not None}
    given["access"] = None if access is None else list(access)
    return call(AccessChange, "POST", path("corpora", corpus, "documents", "access"), given)


def retry_document(corpus: str, document: str) -> Steps[Job]:
    """Starts indexing the document with this id again after it failed or was cancelled, and returns the job."""
    return (yield from call(Started, "POST", path("corpora", corpus, "documents", document, "retry"))).job


def list_chunks(corpus: str, document: str, *, limit: int | None = None) -> Steps[list[Chunk]]:
    """Returns the chunks of the document with this id, in order: all, or the first `limit`."""
    return call_pages(ChunkList, path("corpora", corpus, "documents", document, "chunks"), limit=limit)


def get_chunk(corpus: str, chunk: str) -> Steps[NeighbouringChunk]:
    """Returns the chunk with this id, and those before and after it."""
    return call(NeighbouringChunk, "GET", path("corpora", corpus, "chunks", chunk))
