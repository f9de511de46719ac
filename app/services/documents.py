"""Documents of a corpus: finding them by key or id, listing them, retrying and pruning them."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence

from app.container import Container
from app.services.ingestion import delete_documents
from core.corpora import Corpus
from core.documents import Document
from core.errors import NotFound
from core.ids import document_id
from core.jobs import Job
from core.text.characters import check_text

__all__ = ["find_document", "find_document_ids", "list_documents", "prune", "retry"]

_PAGE = 1000


async def find_document(container: Container, corpus: Corpus, name: str) -> Document:
    """Returns the document with this key, else the document with this id. Raises `NotFound`, with the name."""
    check_text(name, "the document's name")
    found = await container.record.documents.list(corpus.id, limit=1, key=name)
    if found.data:
        return found.data[0]
    try:
        return await container.record.documents.get(corpus.id, name)
    except NotFound as error:
        raise NotFound(f"corpus {corpus.name!r} has no document with the key or id {name!r}") from error


async def find_document_ids(container: Container, corpus: Corpus, keys: Sequence[str]) -> list[str]:
    """Returns the ids of the documents with these keys, each once. Raises `NotFound`, with the unknown keys."""
    wanted = list(dict.fromkeys(check_text(key, f"document key {key!r}") for key in keys))
    missing = [key for key in wanted if not (await container.record.documents.list(corpus.id, limit=1, key=key)).data]
    if missing:
        shown = ", ".join(map(repr, missing[:10])) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
        raise NotFound(f"corpus {corpus.name!r} has no document with the key {shown}; nothing was deleted")
    return [document_id(key) for key in wanted]


async def list_documents(container: Container, corpus: Corpus) -> AsyncIterator[Document]:
    """Yields all documents of a corpus, ordered by key."""
    cursor: str | None = None
    while True:
        page = await container.record.documents.list(corpus.id, limit=_PAGE, cursor=cursor)
        for document in page.data:
            yield document
        cursor = page.next_cursor
        if cursor is None:
            return


async def prune(
    container: Container, corpus: Corpus, keep: Collection[str], covers: Callable[[str], bool] = lambda _: True
) -> Job | None:
    """Deletes every document whose key is not in `keep`, that is, documents that are gone at their source.

    `covers` says whether the source was searched for a key. Returns None if there are none.
    """
    gone = [
        document.id
        async for document in list_documents(container, corpus)
        if document.key not in keep and covers(document.key)
    ]
    return await delete_documents(container, corpus, gone) if gone else None


async def retry(container: Container, corpus: Corpus, document_id: str) -> Job:
    """Queues the newest revision again and notifies a worker. Raises `Conflict` if there is nothing to retry."""
    container.check_embedding(corpus)
    job = await container.record.submissions.retry(corpus.id, document_id)
    await container.notifier.notify_soon(corpus.id)
    return job
