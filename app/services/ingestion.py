"""Submits documents: stores the originals, queues revisions and notifies a worker. Also deletes documents."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from app.container import Container
from core.corpora import Corpus, check_embedded_by
from core.documents import Document, OnConflict, Submission, check_submission
from core.errors import Conflict, FilesRejected, Forbidden, InvalidInput, NotFound, QueueFull, RateLimited, TooLarge
from core.ids import content_hash, document_id
from core.jobs import Job, JobKind
from core.ports.record import Enqueued, NewRevision, Tombstone
from core.principals import DocumentAccess, check_access, narrow
from core.validity.statements import without_marks
from indexer import ATTACHMENT_OF, AttachmentReader, Rejection, attachment_prefix, fingerprint

MAX_DOCUMENTS = 1000
"""The maximum number of documents of one HTTP request, and of one transaction of `submit_all`."""


_SHOWN_REJECTIONS = 5
_LISTED_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True)
class SubmittedFiles:
    """The job with the documents of an upload, and what could not be used."""

    enqueued: Enqueued
    rejected: tuple[Rejection, ...]


@dataclass(frozen=True, kw_only=True)
class SubmissionProgress:
    """The progress of `submit_all`. `job` is complete in the last progress. `attached` are the keys of the attachments
    that were submitted since the previous progress.
    """

    job: Job
    submitted: int
    rejected: tuple[Rejection, ...]
    attached: Collection[str] = ()


async def check_queue(container: Container, corpus: Corpus) -> None:
    """Raises `QueueFull` if as many documents of the corpus are queued as the settings of the API allow.

    Requests that are checked at the same time may each add their documents.
    """
    most = container.settings.api.max_queued
    if await container.record.submissions.count_queued(corpus.id, at_most=most) == most:
        raise QueueFull(
            f"{most:,} documents of corpus {corpus.name!r} wait to be indexed, as many as HOPWEAVE_API__MAX_QUEUED "
            "allows; nothing was written; send this again later, and check that a worker runs"
        )


async def submit(
    container: Container,
    corpus: Corpus,
    submissions: Sequence[Submission],
    on_conflict: OnConflict,
    *,
    token_budget: int | None = None,
) -> Enqueued:
    """Stores the originals and queues revisions of new and changed documents, in one transaction.

    Attachments of mails are submitted with them, after all of `submissions`. `token_budget`: how many tokens of models
    a new job may use before it pauses. Raises `TooLarge` for a mail with too many attachments.
    """
    for submission in submissions:
        _check(submission, corpus)  # before its attachments are read: its media type may be none
    reader = AttachmentReader(container.loaders)
    found = await asyncio.to_thread(_read_all, reader, submissions)
    if rejected := [rejection for rejection in found if isinstance(rejection, Rejection)]:
        raise TooLarge(f"document {rejected[0].source!r}: {rejected[0].reason.partition(';')[0]}; nothing was written")
    return await _submit_read(container, corpus, found, on_conflict, reader.mails, token_budget=token_budget)


def _read_all(reader: AttachmentReader, submissions: Sequence[Submission]) -> list[Submission | Rejection]:
    return list(reader.read(submissions))


async def _submit_read(
    container: Container,
    corpus: Corpus,
    found: Sequence[Submission | Rejection],
    on_conflict: OnConflict,
    mails: Collection[str],
    *,
    job_id: str | None = None,
    token_budget: int | None = None,
) -> Enqueued:
    submissions = [submission for submission in found if isinstance(submission, Submission)]
    return await _enqueue(
        container,
        corpus,
        [_make_revision(_check(submission, corpus)) for submission in submissions],
        lambda: (submission.content for submission in submissions),
        on_conflict,
        mails=mails,
        job_id=job_id,
        token_budget=token_budget,
    )


async def submit_found(
    container: Container,
    corpus: Corpus,
    read: Callable[[], Iterable[Submission | Rejection]],
    on_conflict: OnConflict,
    *,
    token_budget: int | None = None,
) -> SubmittedFiles:
    """Submits what `read` yields in one transaction. `read` is called several times, so that not all contents are in
    memory at once.

    Attachments of mails are submitted with them. Raises `FilesRejected` if nothing can be submitted, or, with
    `on_conflict=error`, if anything is rejected; and `TooLarge` for more than `MAX_DOCUMENTS` documents.
    """
    reader = AttachmentReader(container.loaders)

    def read_all() -> Iterator[Submission | Rejection]:
        return reader.read(read())

    revisions, rejected = await asyncio.to_thread(_make_revisions, read_all, corpus, reader.attached)
    if rejected and (not revisions or on_conflict is OnConflict.ERROR):
        raise _refuse(rejected)
    enqueued = await _enqueue(
        container,
        corpus,
        revisions,
        lambda: (found.content for found in read_all() if isinstance(found, Submission)),
        on_conflict,
        mails=reader.mails,
        token_budget=token_budget,
    )
    return SubmittedFiles(enqueued=enqueued, rejected=tuple(rejected))


def _refuse(rejected: Sequence[Rejection]) -> FilesRejected:
    shown = "; ".join(f"{rejection.source}: {rejection.reason}" for rejection in rejected[:_SHOWN_REJECTIONS])
    more = len(rejected) - _SHOWN_REJECTIONS
    message = f"nothing was written: {shown}" + (f"; and {more:,} more" if more > 0 else "")
    return FilesRejected(message, [(rejection.source, rejection.reason) for rejection in rejected])


def _make_revisions(
    read: Callable[[], Iterable[Submission | Rejection]], corpus: Corpus, attached: Collection[str]
) -> tuple[list[NewRevision], list[Rejection]]:
    """Returns the revisions, and what is rejected. `attached` grows while it is read: attachments are no documents of
    the request, and have a limit of their own.
    """
    revisions, rejected = list[NewRevision](), list[Rejection]()
    for found in read():
        if isinstance(found, Rejection):
            rejected.append(found)
            continue
        if len(revisions) - len(attached) >= MAX_DOCUMENTS and found.key not in attached:
            raise TooLarge(f"there are more than {MAX_DOCUMENTS:,} documents; send them in several calls")
        try:
            revisions.append(_make_revision(_check(found, corpus)))
        except InvalidInput as error:
            rejected.append(Rejection(source=found.key, reason=str(error)))
    return revisions, rejected


async def _enqueue(
    container: Container,
    corpus: Corpus,
    revisions: Sequence[NewRevision],
    contents: Callable[[], Iterable[bytes]],
    on_conflict: OnConflict,
    *,
    mails: Collection[str],
    job_id: str | None = None,
    token_budget: int | None = None,
) -> Enqueued:
    container.check_embedding(corpus)
    await container.files.put(corpus.id, contents())
    given = await _read_access(container, corpus, revisions, mails)
    revisions = await _inherit_access(container, corpus, revisions, given)
    submitted = revisions
    if on_conflict is OnConflict.SKIP:
        revisions = await _leave_out_attachments(container, corpus, revisions, mails)
    try:
        enqueued = await container.record.submissions.enqueue(
            corpus.id, revisions, on_conflict, job_id=job_id, token_budget=token_budget
        )
    except NotFound:
        await _delete_originals_if_deleted(container, corpus.id)
        raise
    except (Conflict, Forbidden, InvalidInput, RateLimited, TooLarge):  # nothing was queued
        await _list_orphans(container, corpus.id, [submission.content_hash for submission in submitted])
        raise
    # Before revisions were queued, a worker may have deleted the originals as orphans. So they are stored again.
    await container.files.put(corpus.id, contents())
    written = {document.key for document in enqueued.documents if not document.skipped}
    unwritten = [submission.content_hash for submission in submitted if submission.key not in written]
    await _list_orphans(container, corpus.id, unwritten)
    await container.notifier.notify_soon(corpus.id)
    await _delete_lost_attachments(container, corpus, enqueued, mails)
    for key, access in (await _read_access(container, corpus, submitted, mails)).items():
        if access != given.get(key):  # it was changed after it was inherited
            ids = [one.id for one in enqueued.documents if one.key.startswith(attachment_prefix(key))]
            await container.whole_record.submissions.set_access(corpus.id, ids, access)
    return enqueued


async def _leave_out_attachments(
    container: Container, corpus: Corpus, revisions: Sequence[NewRevision], mails: Collection[str]
) -> list[NewRevision]:
    """Returns the revisions without the attachments of mails that are there already: such a mail is skipped, and what
    another version of it has attached is no document of the corpus.
    """
    prefixes = tuple([attachment_prefix(key) for key in mails if await _exists(container, corpus, key)])
    return [
        revision
        for revision in revisions
        if not (ATTACHMENT_OF in revision.metadata and revision.key.startswith(prefixes))
    ]


async def _read_access(
    container: Container, corpus: Corpus, revisions: Sequence[NewRevision], mails: Collection[str]
) -> dict[str, DocumentAccess]:
    """Returns the access of present mails, by key, for the mails that are submitted without an access."""
    named = {revision.key for revision in revisions if revision.access is not None}
    found = {key: await _find(container, corpus, key) for key in mails if key not in named}
    return {key: document.access for key, document in found.items() if document is not None}


async def _inherit_access(
    container: Container, corpus: Corpus, revisions: Sequence[NewRevision], mails: Mapping[str, DocumentAccess]
) -> list[NewRevision]:
    """Returns the revisions, with an access for each attachment of a present mail, if neither names one: what is
    attached to the next version of a mail is for those who may see the mail. `mails` have the access by key.

    An attachment that is there stays with those who see both: it may have been hidden singly. A document that only has
    the key of an attachment is replaced as any other, so that nobody sees what is attached by making its key first.
    """
    outer = {attachment_prefix(key): one for key, one in mails.items() if one is not None}
    inner = dict[str, DocumentAccess]()  # of mails in mails, whose own attachments follow them
    inherited = []
    for revision in revisions:
        prefix = next((prefix for prefix in outer if revision.key.startswith(prefix)), None)
        if prefix is None or ATTACHMENT_OF not in revision.metadata or revision.access is not None:
            inherited.append(revision)
            continue
        access = inner.get(str(revision.metadata[ATTACHMENT_OF]), outer[prefix])
        present = await _find(container, corpus, revision.key)
        if present is not None and ATTACHMENT_OF in present.metadata:
            access = narrow(present.access, access)
        inner[revision.key] = access
        inherited.append(replace(revision, access=access))
    return inherited


async def _find(container: Container, corpus: Corpus, key: str) -> Document | None:
    """Returns a document with its whole access, of which a caller with principals is shown a part. What the caller may
    not see it cannot submit.
    """
    try:
        return await container.whole_record.documents.get(corpus.id, document_id(key))
    except NotFound:
        return None


async def _exists(container: Container, corpus: Corpus, key: str) -> bool:
    return await _find(container, corpus, key) is not None


async def _list_orphans(container: Container, corpus_id: str, names: Sequence[str]) -> None:
    """Lists originals of submissions that made no revision in a tombstone, so that a worker deletes originals that no
    revision names.
    """
    if not names:
        return
    tombstone = Tombstone(id=0, corpus_id=corpus_id, content_hashes=tuple(sorted(set(names))))
    with suppress(NotFound):  # the corpus was deleted meanwhile
        await container.record.tombstones.write(tombstone, [], grace=0.0)


async def _delete_originals_if_deleted(container: Container, corpus_id: str) -> None:
    """Deletes the originals of a corpus that was deleted before they were stored. No worker would delete them."""
    try:
        await container.record.corpora.get_by_id(corpus_id)
    except NotFound:
        await container.files.delete_corpus(corpus_id)


async def submit_all(
    container: Container,
    corpus: Corpus,
    found: Iterable[Submission | Rejection],
    on_conflict: OnConflict,
    *,
    token_budget: int | None = None,
) -> AsyncGenerator[SubmissionProgress]:
    """Submits a stream of documents as one job, a thousand at a time. Yields the progress after each part.

    A caller that may stop early closes the generator (`contextlib.aclosing`), so that the job contains what was
    submitted until then.
    """
    rejected: list[Rejection] = []
    submitted = 0
    job_id = await container.record.submissions.open_job(corpus.id, JobKind.INGEST, token_budget=token_budget)
    try:
        rest = iter(found)
        while part := list(islice(rest, MAX_DOCUMENTS)):
            rejected += [rejection for rejection in part if isinstance(rejection, Rejection)]
            submissions = [submission for submission in part if isinstance(submission, Submission)]
            misfits = _find_misfits(submissions, corpus)
            rejected += misfits.values()
            submissions = [submission for submission in submissions if submission.key not in misfits]
            if submissions:
                reader = AttachmentReader(container.loaders)
                read = await asyncio.to_thread(_read_all, reader, submissions)
                rejected += [rejection for rejection in read if isinstance(rejection, Rejection)]
                enqueued = await _submit_read(container, corpus, read, on_conflict, reader.mails, job_id=job_id)
                submitted += len(enqueued.documents)
                yield SubmissionProgress(
                    job=enqueued.job, submitted=submitted, rejected=tuple(rejected), attached=reader.attached
                )
        job = await container.record.submissions.close_job(job_id)
    except BaseException:  # also an interruption: the job contains what was submitted
        await container.record.submissions.close_job(job_id)
        raise
    yield SubmissionProgress(job=job, submitted=submitted, rejected=tuple(rejected))


async def delete_documents(container: Container, corpus: Corpus, document_ids: Sequence[str]) -> Job:
    """Makes documents invisible at once, and the attachments of mails among them. A worker deletes them later."""
    keys = [(await container.record.documents.get(corpus.id, id)).key for id in document_ids]
    attached = await list_attachments(container, corpus, keys)
    ids = dict.fromkeys((*document_ids, *(document.id for document in attached)))
    job = await container.record.submissions.delete_documents(corpus.id, list(ids))
    await container.notifier.notify_soon(corpus.id)
    return job


async def delete_one_document(container: Container, corpus: Corpus, document_id: str) -> Job:
    """Deletes a document. Returns the same job while that is being done; then raises `NotFound`."""
    try:
        return await delete_documents(container, corpus, [document_id])
    except NotFound:
        running = await container.record.submissions.find_deletion(corpus.id, document_id)
        if running is None:
            raise
        return running


async def list_attachments(container: Container, corpus: Corpus, keys: Iterable[str]) -> list[Document]:
    """Returns the documents that were submitted as attachments of the mails with these keys, and of mails in them, as
    far as the caller sees them.

    It reads no further than the keys of attachments go, however little of the corpus the caller sees.
    """
    found: list[Document] = []
    for key in keys:
        prefix = attachment_prefix(key)
        cursor: str | None = prefix
        while cursor is not None:
            page = await container.whole_record.documents.list(corpus.id, limit=_LISTED_AT_ONCE, cursor=cursor)
            below = [document for document in page.data if document.key.startswith(prefix)]
            found += [one for one in below if ATTACHMENT_OF in one.metadata and container.sees(one)]
            cursor = page.next_cursor if len(below) == len(page.data) else None
    return found


async def _delete_lost_attachments(
    container: Container, corpus: Corpus, enqueued: Enqueued, mails: Collection[str]
) -> None:
    """Deletes the attachments that earlier versions of the submitted `mails` had, and these do not.

    A mail that was skipped keeps its own.
    """
    submitted = {document.key for document in enqueued.documents}
    changed = [document.key for document in enqueued.documents if document.key in mails and not document.skipped]
    lost = [
        document.id for document in await list_attachments(container, corpus, changed) if document.key not in submitted
    ]
    if lost:
        await container.record.submissions.delete_existing(corpus.id, lost)
        await container.notifier.notify_soon(corpus.id)


async def resume(container: Container, job_id: str, *, tokens: int | None = None) -> Job:
    """Queues what the budget of a job paused, and notifies a worker.

    `tokens` are added to the budget (None: as many as the last time).
    """
    job = await container.record.jobs.resume(job_id, tokens=tokens)
    await container.notifier.notify_soon(job.corpus_id)
    return job


def _check(submission: Submission, corpus: Corpus) -> Submission:
    """Returns the submission if it can be indexed in the corpus; raises `InvalidInput` if not."""
    checked = check_submission(submission)
    checked = replace(checked, metadata=without_marks(checked.metadata))
    if checked.embedded_by is not None:
        check_embedded_by(checked.embedded_by, corpus.settings, f"document {checked.key!r}", corpus.name)
    return checked


def _find_misfits(submissions: Sequence[Submission], corpus: Corpus) -> dict[str, Rejection]:
    """Returns, by key, the submissions whose embeddings the corpus cannot use."""
    misfits = dict[str, Rejection]()
    for submission in submissions:
        if submission.embedded_by is None:
            continue
        try:
            check_embedded_by(submission.embedded_by, corpus.settings, "it", corpus.name)
        except InvalidInput as error:
            misfits[submission.key] = Rejection(source=submission.key, reason=str(error), key=submission.key)
    return misfits


def _make_revision(submission: Submission) -> NewRevision:
    """Returns the revision of a submission, whose content is stored apart from it."""
    return NewRevision(
        key=submission.key,
        media_type=submission.media_type,
        content_hash=content_hash(submission.content),
        size=len(submission.content),
        fingerprint=fingerprint(submission),
        title=submission.title,
        metadata=submission.metadata,
        access=check_access(submission.access, f"document {submission.key!r}: `access`"),
    )
