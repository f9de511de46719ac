"""Documents of a corpus and their chunks: list, get, delete, retry."""

from collections.abc import Sequence

from hopweave._operations.jobs import Started
from hopweave._steps import Listing, Page, Steps, call, path, request
from hopweave._values.documents import Chunk, Document, DocumentState, NeighbouringChunk
from hopweave._values.jobs import Job

__all__ = [
    "delete_documents",
    "get_chunk",
    "get_content",
    "get_document",
    "list_chunks",
    "list_documents",
    "retry_document",
]

_PAGE = 200


def list_documents(
    corpus: str, *, key: str | None = None, state: DocumentState | None = None, limit: int | None = None
) -> Steps[list[Document]]:
    """Returns the documents of a corpus, by key: all, or those with this key or state, or the first `limit`."""
    found: list[Document] = []
    cursor: str | None = None
    while limit is None or len(found) < limit:
        count = _PAGE if limit is None else min(_PAGE, limit - len(found))
        at = path("corpora", corpus, "documents")
        page = yield from call(Page[Document], "GET", at, key=key, state=state, limit=count, cursor=cursor)
        found += page.data
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def get_document(corpus: str, document: str) -> Steps[Document]:
    """Returns the document with this id."""
    return call(Document, "GET", path("corpora", corpus, "documents", document))


def get_content(corpus: str, document: str) -> Steps[bytes]:
    """Returns the original bytes of the document with this id."""
    content: bytes = yield request("GET", path("corpora", corpus, "documents", document, "content"))
    return content


def delete_documents(corpus: str, keys: Sequence[str]) -> Steps[Job]:
    """Starts deleting documents by key (1 to 1,000 of them), and returns the job. They are invisible at once.

    Raises `NotFoundError` if there is no document of one of these keys.
    """
    body = {"keys": list(keys)}
    return (yield from call(Started, "POST", path("corpora", corpus, "documents", "delete"), body)).job


def retry_document(corpus: str, document: str) -> Steps[Job]:
    """Starts indexing the document with this id again after it failed or was cancelled, and returns the job."""
    return (yield from call(Started, "POST", path("corpora", corpus, "documents", document, "retry"))).job


def list_chunks(corpus: str, document: str) -> Steps[list[Chunk]]:
    """Returns the chunks of the document with this id, in order."""
    listing = yield from call(Listing[Chunk], "GET", path("corpora", corpus, "documents", document, "chunks"))
    return list(listing.data)


def get_chunk(corpus: str, chunk: str) -> Steps[NeighbouringChunk]:
    """Returns the chunk with this id, and those before and after it."""
    return call(NeighbouringChunk, "GET", path("corpora", corpus, "chunks", chunk))
