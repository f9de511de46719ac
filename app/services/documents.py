"""Documents of a corpus: finding, listing, changing, deleting and retrying them, and their pages.

Pages come last: as texts, as images, how many there are, and the passages of a page.
"""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Protocol

from core.corpora import Corpus
from core.documents import READ_BY, Chunk, Document, RevisionState, check_metadata
from core.errors import NotFound, UnsupportedMedia
from core.execution.threads import call_in_thread
from core.filters import DocumentFilter
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.indexing import LoadedDocument, Source
from core.ports.record import DocumentPage, Enqueued, EnqueuedDocument, NewRevision, Record
from core.principals import DocumentAccess, check_access
from core.record_policy.documents import make_page
from core.record_policy.errors import no_document
from core.text.characters import check_text
from core.validity import mark_writer, without_marks

if TYPE_CHECKING:
    from app.container import Container
    from indexer import DrawnPage


_PAGE = 1000
_LOOK_UPS = 100
"""For more keys than these, all documents are listed."""

_READ_OR_GONE = (RevisionState.INDEXED, RevisionState.DELETING, RevisionState.DELETED)
_UNREAD = tuple(state for state in RevisionState if state not in _READ_OR_GONE)


class WithRecord(Protocol):
    """The container, or a part of it: listing documents needs no more."""

    @property
    def record(self) -> Record: ...


async def find_document(container: WithRecord, corpus: Corpus, name: str) -> Document:
    """Returns the document with this key, else the document with this id. Raises `NotFound`, with the name."""
    check_text(name, "the document's name")
    found = await container.record.documents.list(corpus.id, limit=1, key=name)
    if found.data:
        return found.data[0]
    try:
        return await container.record.documents.get(corpus.id, name)
    except NotFound as error:
        raise no_document(corpus.name, name) from error


async def delete_by_keys(container: "Container", corpus: Corpus, keys: Sequence[str]) -> tuple[Job, list[str]]:
    """Deletes the documents with these keys, and the attachments of mails among them. Returns the job, and the keys
    that no document has.
    """
    from app.services.ingestion import list_attachments  # it imports all that indexes

    ids = {document_id(check_text(key, f"document key {key!r}")): key for key in keys}
    attached = [document.id for document in await list_attachments(container, corpus, keys) if document.id not in ids]
    deletion = await container.record.submissions.delete_existing(corpus.id, [*ids, *attached])
    await container.notifier.notify_soon(corpus.id)
    return deletion.job, [ids[id] for id in deletion.missing if id in ids]


async def delete_matching(container: "Container", corpus: Corpus, where: DocumentFilter) -> Job:
    """Deletes the readable documents that match, enabled or not, and the attachments of mails among
    them.
    """
    from app.services.ingestion import list_attachments  # it imports all that indexes

    found = await container.record.documents.match(corpus.id, where, enabled=None)
    refs = await container.record.documents.get_refs(corpus.id, found, enabled=None)
    mails = [ref.key for ref in refs.values() if "attachments" in ref.metadata or "mails" in ref.metadata]
    attached = {document.id for document in await list_attachments(container, corpus, mails)}
    deletion = await container.record.submissions.delete_existing(corpus.id, sorted(found | attached))
    await container.notifier.notify_soon(corpus.id)
    return deletion.job


async def change_document(
    container: "Container",
    corpus: Corpus,
    document_id: str,
    change: Callable[[NewRevision], NewRevision],
    *,
    enabled: bool | None = None,
    access: DocumentAccess | EllipsisType = ...,
) -> Enqueued:
    """Queues a revision with another title or other metadata, and the same content; its fingerprint is set here.

    `enabled` also shows the document to searches, or hides it, and `access` says who may see it (`...`: who may now),
    at once. Raises `Conflict` unless the newest revision is indexed, and `InvalidInput` if its metadata would be too
    long; then nothing is changed.
    """
    from indexer import fingerprint_of  # imports all that indexes, which takes longer than listing documents

    def apply(submitted: NewRevision) -> NewRevision:
        changed = change(submitted)
        if named is not None:
            changed = replace(changed, access=named)  # refused here, nothing is changed
        # A key with a filter adds its own mark (`app.access`): the former writer's rights say nothing of this one's.
        changed = replace(changed, metadata=mark_writer(changed.metadata, None, submitted.metadata))
        check_metadata(changed.metadata, f"document {changed.key!r}:")
        fingerprint = fingerprint_of(
            key=changed.key,
            media_type=changed.media_type,
            title=changed.title,
            metadata=without_marks(changed.metadata),
            content_hash=changed.content_hash,
        )
        return replace(changed, fingerprint=fingerprint)

    named = None if access is ... else check_access(access, "`access`")
    container.check_embedding(corpus)
    enqueued = await container.record.submissions.amend(corpus.id, document_id, apply)
    if enabled is not None:
        await container.record.submissions.set_enabled(corpus.id, [document_id], enabled=enabled)
    if access is not ...:
        await set_access(container, corpus, document_id, access)
    await container.notifier.notify_soon(corpus.id)
    return enqueued


async def set_enabled(container: "Container", corpus: Corpus, document_id: str, *, enabled: bool) -> Enqueued:
    """Shows a document to searches, or hides it, at once. The job is empty and done: no worker has anything to do.

    Raises `NotFound`.
    """
    await container.record.submissions.set_enabled(corpus.id, [document_id], enabled=enabled)
    document = await container.record.documents.get(corpus.id, document_id)
    job = await container.record.submissions.open_job(corpus.id, JobKind.INGEST)
    unchanged = EnqueuedDocument(id=document.id, key=document.key, state=document.state, unchanged=True)
    return Enqueued(job=await container.record.submissions.close_job(job), documents=(unchanged,))


async def set_access(container: "Container", corpus: Corpus, document_id: str, access: DocumentAccess) -> Enqueued:
    """Says who may see a document and, if it is a mail, its attachments, at once. The job is empty and done.

    Raises `NotFound`, and `InvalidInput` for what is no access.
    """
    document = await container.record.documents.get(corpus.id, document_id)
    await _set_access(container, corpus, {document_id}, [document.key], access)
    job = await container.record.submissions.open_job(corpus.id, JobKind.INGEST)
    unchanged = EnqueuedDocument(id=document.id, key=document.key, state=document.state, unchanged=True)
    return Enqueued(job=await container.record.submissions.close_job(job), documents=(unchanged,))


async def set_access_by_keys(
    container: "Container", corpus: Corpus, keys: Sequence[str], access: DocumentAccess
) -> tuple[int, list[str]]:
    """Does the same for the documents with these keys. Returns how many documents have this access now, and the keys
    that no document has.
    """
    ids = {document_id(check_text(key, f"document key {key!r}")): key for key in keys}
    found = await _set_access(container, corpus, ids, keys, access)
    return len(found), [key for id, key in ids.items() if id not in found]


async def set_access_matching(
    container: "Container", corpus: Corpus, where: DocumentFilter, access: DocumentAccess
) -> int:
    """Does the same for the documents that match, enabled or not, readable or not yet."""
    unread = await _match_unread(container, corpus, where)  # first: what becomes readable meanwhile is in both
    found = await container.record.documents.match(corpus.id, where, enabled=None)
    refs = await container.record.documents.get_refs(corpus.id, found, enabled=None)
    mails = [ref.key for ref in refs.values() if "attachments" in ref.metadata or "mails" in ref.metadata]
    return len(await _set_access(container, corpus, found | unread, mails, access))


async def _match_unread(container: "Container", corpus: Corpus, where: DocumentFilter) -> frozenset[str]:
    """Returns the ids of the matching documents with a revision that is not indexed."""
    found: set[str] = set()
    for state in _UNREAD:
        cursor = None
        while True:
            page = await container.record.documents.list(corpus.id, limit=_PAGE, cursor=cursor, state=state)
            for document in page.data:
                fields = {"id": document.id, "key": document.key, "title": document.title}
                if where.matches(**fields, metadata=document.metadata, access=document.access):
                    found.add(document.id)
            cursor = page.next_cursor
            if cursor is None:
                break
    return frozenset(found)


async def _set_access(
    container: "Container", corpus: Corpus, ids: Collection[str], mails: Sequence[str], access: DocumentAccess
) -> frozenset[str]:
    from app.services.ingestion import list_attachments  # it imports all that indexes

    checked = check_access(access, "`access`")
    attached = {document.id for document in await list_attachments(container, corpus, mails)}
    return await container.record.submissions.set_access(corpus.id, sorted({*ids, *attached}), checked)


async def patch_document(
    container: "Container",
    corpus: Corpus,
    document_id: str,
    change: Callable[[NewRevision], NewRevision] | None,
    *,
    enabled: bool | None,
    access: DocumentAccess | EllipsisType,
) -> Enqueued:
    """Does what `change_document` does; without `change`, only what takes effect at once, which makes no revision."""
    if change is not None:
        return await change_document(container, corpus, document_id, change, enabled=enabled, access=access)
    if access is ...:
        return await set_enabled(container, corpus, document_id, enabled=enabled is True)
    enqueued = await set_access(container, corpus, document_id, access)  # which may be refused
    if enabled is not None:
        await container.record.submissions.set_enabled(corpus.id, [document_id], enabled=enabled)
    return enqueued


async def list_matching(
    container: WithRecord,
    corpus: Corpus,
    where: DocumentFilter,
    *,
    limit: int,
    cursor: str | None,
    key: str | None,
    state: RevisionState | None,
    enabled: bool | None,
) -> DocumentPage:
    """Returns a page of the readable documents that match, by key."""
    matching = await container.record.documents.match(corpus.id, where, enabled=enabled)
    found: list[Document] = []
    while len(found) <= limit:
        page = await container.record.documents.list(corpus.id, limit=_PAGE, cursor=cursor, key=key, state=state)
        found += [document for document in page.data if document.id in matching]
        cursor = page.next_cursor
        if cursor is None:
            break
    return make_page(found, limit, lambda document: document)


async def load_page(container: "Container", corpus: Corpus, document_id: str, number: int) -> str:
    """Returns the text of a page; a document without pages has page 1.

    Raises `NotFound`, also if the loader keeps no text of pages.
    """
    document = await container.record.documents.get(corpus.id, document_id)
    return (await load_pages(container, corpus, document, only=number))[number]


async def load_pages(
    container: "Container", corpus: Corpus, document: Document, *, only: int | None = None
) -> dict[int, str]:
    """Returns the texts of a document's pages by number, ascending; with `only`, the text of that page.

    The pages of a long document were stored when it was indexed. Other pages are loaded from the original again.

    Raises `NotFound` if there is no such page.
    """
    pages = await _read_kept_pages(container, corpus, document) or await _load_pages(container, corpus, document)
    if only is None:
        return pages
    if only not in pages:
        known = f"its pages are {min(pages)} to {max(pages)}" if len(pages) > 1 else "it has no text"
        if len(pages) == 1:
            known = f"it has one page: ask for page {min(pages)}, which is all its text"
        raise NotFound(f"document {document.key!r} has no page {only}; {known}")
    return {only: pages[only]}


async def _read_kept_pages(container: "Container", corpus: Corpus, document: Document) -> dict[int, str]:
    """Returns nothing if no pages are kept."""
    from indexer import unpack_pages  # imports all that indexes

    packed = await container.files.get_derived(corpus.id, document.content_hash)
    pages = None if packed is None else await call_in_thread(lambda: unpack_pages(document.media_type, packed))
    return dict(enumerate(pages or (), start=1))


async def _load_pages(container: "Container", corpus: Corpus, document: Document) -> dict[int, str]:
    """Loads the original again, and keeps the texts if there are many pages."""
    from indexer import pack_pages  # imports all that indexes

    content = await container.files.get(corpus.id, document.content_hash)
    source = Source(
        key=document.key,
        content=content,
        media_type=document.media_type,
        title=document.title,
        metadata=document.metadata,
    )
    by_docling = document.metadata.get(READ_BY) == "docling"
    loaded = await container.page_lane.load(source, container.caller, docling=by_docling)
    packed = await call_in_thread(lambda: pack_pages(document.media_type, loaded.pages, loaded.metadata))
    if packed is not None:
        await container.files.put_derived(corpus.id, document.content_hash, packed)
    return _join_pages(loaded)


def _join_pages(loaded: LoadedDocument) -> dict[int, str]:
    """Returns the texts of the pages by number. Where the loader keeps none, the blocks of a page are its text."""
    if loaded.pages:
        return dict(enumerate(loaded.pages, start=1))
    texts: dict[int, list[str]] = {}
    for block in loaded.blocks:
        texts.setdefault(1 if block.page is None else block.page, []).append(block.text)
    return {number: "\n\n".join(parts) for number, parts in texts.items()}


async def list_documents(container: "Container", corpus: Corpus) -> AsyncIterator[Document]:
    """Yields all documents of a corpus, ordered by key."""
    cursor: str | None = None
    while True:
        page = await container.record.documents.list(corpus.id, limit=_PAGE, cursor=cursor)
        for document in page.data:
            yield document
        cursor = page.next_cursor
        if cursor is None:
            return


async def list_those(container: "Container", corpus: Corpus, keys: Collection[str]) -> AsyncIterator[Document]:
    """Yields the existing documents with these keys."""
    if len(keys) > _LOOK_UPS:
        async for document in list_documents(container, corpus):
            if document.key in keys:
                yield document
        return
    for key in sorted(keys):
        page = await container.record.documents.list(corpus.id, limit=1, key=key)
        for document in page.data:
            yield document


async def retry(container: "Container", corpus: Corpus, document_id: str) -> Job:
    """Queues the newest revision again and notifies a worker. Raises `Conflict` if there is nothing to retry."""
    container.check_embedding(corpus)
    job = await container.record.submissions.retry(corpus.id, document_id)
    await container.notifier.notify_soon(corpus.id)
    return job


def can_be_drawn(document: Document) -> bool:
    """Returns whether there are images of the document's pages."""
    from indexer import has_page_images  # imports all that indexes, which takes longer than listing documents

    return has_page_images(document.media_type)


def check_drawable(document: Document) -> None:
    """Raises `UnsupportedMedia` if there are no images of the document's pages."""
    if not can_be_drawn(document):
        raise UnsupportedMedia(
            f"document {document.key!r} has no images of its pages: only PDF files have; "
            "the text of a page is at …/pages/{page}"
        )


async def draw_page(
    container: "Container", corpus: Corpus, document: Document, number: int, *, width: int, mark: str
) -> "DrawnPage":
    """Draws a page from the original, `width` pixels wide, with the words of `mark` highlighted.

    Raises `NotFound` if there is no such page, `LoadFailed` if the file is damaged, and `UnsupportedMedia`.
    """
    check_drawable(document)
    read = partial(container.files.get, corpus.id, document.content_hash)
    return await container.page_images.draw(document.key, read, number, width=width, mark=mark, caller=container.caller)


async def count_pages(container: "Container", corpus: Corpus, document: Document) -> int | None:
    """Returns the number of the last page that has a passage, or None if the passages have no pages."""
    last = await container.record.contents.get_chunks_of(corpus.id, document.id, after=document.chunks - 2, limit=1)
    return last[0].page if last else None


async def list_chunks_of_page(
    container: "Container", corpus: Corpus, document: Document, page: int, *, after: int, limit: int
) -> list[Chunk]:
    """Returns the first `limit` chunks of a page after the position `after`.

    The pages of a document that a loader has read ascend, so that the first chunk is found by halving.
    """
    read = container.record.contents.get_chunks_of
    low, high = after + 1, max(document.chunks, after + 1)
    while low < high:
        middle = (low + high) // 2
        found = await read(corpus.id, document.id, after=middle - 1, limit=1)
        if found and (found[0].page or 0) < page:
            low = middle + 1
        else:
            high = middle
    chunks = await read(corpus.id, document.id, after=low - 1, limit=limit)
    return [chunk for chunk in chunks if chunk.page == page]
