"""Documents that are gone at their source."""

from collections.abc import AsyncIterator, Collection

from app.container import Container
from app.services.ingestion import delete_documents
from core.corpora import Corpus
from core.documents import Document
from core.jobs import Job

__all__ = ["documents_of", "prune"]

_PAGE = 1000


async def prune(container: Container, corpus: Corpus, keep: Collection[str]) -> Job | None:
    """Delete every document whose key is not in `keep`, so that the corpus holds what the source holds; None: none."""
    gone = [document.id async for document in documents_of(container, corpus) if document.key not in keep]
    return await delete_documents(container, corpus, gone) if gone else None


async def documents_of(container: Container, corpus: Corpus) -> AsyncIterator[Document]:
    """All documents of a corpus, by key."""
    cursor: str | None = None
    while True:
        page = await container.record.documents.list(corpus.id, limit=_PAGE, cursor=cursor)
        for document in page.data:
            yield document
        cursor = page.next_cursor
        if cursor is None:
            return
