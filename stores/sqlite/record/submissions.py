"""The port of submissions in SQLite: submissions and deletions become queued revisions of a job.

The functions of one transaction come first; each handles one submission or deletion. The port comes last.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.filters import DocumentFilter
from core.ids import document_id
from core.jobs import Job, JobKind
from core.ports.record import Check, Deletion, Enqueued, EnqueuedDocument, NewRevision
from core.principals import DocumentAccess
from core.record_policy.errors import document_missing, document_outside
from core.record_policy.submissions import (
    STOPPABLE,
    SUPERSEDED,
    SubmissionOutcome,
    check_amendable,
    check_distinct_keys,
    check_retriable,
    decide_access,
    decide_submission,
    is_conflict,
    is_unchanged,
    is_visible,
    keys_exist,
)
from stores.record_rows import dump, dump_access, is_within, load_new_revision
from stores.sqlite.changes import log_chunks, raise_generation
from stores.sqlite.database import Connection, SqliteDatabase, now
from stores.sqlite.questions import withdraw
from stores.sqlite.record.certificates import insert_answers
from stores.sqlite.record.jobs import close_job, insert_job, read_job
from stores.sqlite.record.revisions import (
    UNFINISHED_ROWS,
    add_count,
    cancel,
    find_visible_document,
    finish_if_done,
    insert_deletion,
    insert_revision,
    move_to_job,
    newest_of_row,
    next_number,
    read_deletable_document,
    read_document,
    read_newest,
    read_visible_document,
    read_writable_corpus,
    set_state,
)
from stores.sqlite.rows import OF_CORPUS, OF_ID, id_list, make_corpus_number


def _check_within(cx: Connection, corpus_id: str, revisions: Sequence[NewRevision], where: DocumentFilter) -> None:
    """Raises `Forbidden` for the key of a document that exists and does not match."""
    for submitted in revisions:
        row = read_document(cx, corpus_id, document_id(submitted.key))
        newest = read_newest(cx, row) if row is not None else None
        if row is None or newest is None or not is_visible(newest_of_row(row, newest)):
            continue
        if not is_within(where, row.__getitem__, newest.__getitem__):
            raise document_outside(submitted.key)


def _check_no_conflict(cx: Connection, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    """Raises `Conflict`, listing the keys of the documents that exist and differ."""
    documents = [(submitted, read_document(cx, corpus_id, document_id(submitted.key))) for submitted in revisions]
    taken = [
        submitted.key
        for submitted, row in documents
        if row is not None and is_conflict(newest_of_row(row, read_newest(cx, row)), submitted.fingerprint)
    ]
    if taken:
        raise keys_exist(taken)


def enqueue_into(
    cx: Connection, corpus_id: str, job: str, revisions: Sequence[NewRevision], on_conflict: OnConflict
) -> tuple[EnqueuedDocument, ...]:
    """Enqueues revisions for an existing job, and counts them. The caller calls `finish_if_done`."""
    read_writable_corpus(cx, corpus_id)
    cx.execute("UPDATE jobs SET touched_at = ? WHERE id = ?", (now(), job))
    enqueued = [_enqueue_one(cx, corpus_id, revision, on_conflict, job) for revision in revisions]
    documents = tuple(document for document, _ in enqueued)
    if any(is_changed for _, is_changed in enqueued):
        raise_generation(cx, corpus_id)
    add_count(cx, job, "unchanged", sum(d.unchanged for d in documents))
    add_count(cx, job, "skipped", sum(d.skipped for d in documents))
    return documents


def _enqueue_one(
    cx: Connection, corpus_id: str, revision: NewRevision, on_conflict: OnConflict, job: str
) -> tuple[EnqueuedDocument, bool]:
    """Returns the document, and whether other callers see it than before."""
    id = document_id(revision.key)
    document = read_document(cx, corpus_id, id)
    row = read_newest(cx, document) if document is not None else None
    newest = newest_of_row(document, row) if document is not None and row is not None else None
    decision = decide_submission(revision, newest, on_conflict)
    if row is not None and decision.outcome is SubmissionOutcome.SAME_UNFINISHED:
        _move_to_job(cx, row, job)
    if row is not None and decision.outcome is SubmissionOutcome.SUPERSEDES:
        cancel(cx, [row["seq"]], SUPERSEDED)
    access = decide_access(decision.outcome, revision.access, newest)
    if decision.outcome.makes_revision:
        number = next_number(cx)
        _write_document(cx, corpus_id, revision, number, exists=document is not None)
        insert_revision(cx, corpus_id, id, number, replace(revision, access=access.pending), job)
    elif row is not None and newest is not None and access.pending != newest.pending:
        cx.execute("UPDATE revision_rows SET access = ? WHERE seq = ?", (dump_access(access.pending), row["seq"]))
    is_changed = access.document != (None if newest is None else newest.access)
    if is_changed:
        _write_access(cx, corpus_id, [id], access.document)
    return decision.document, is_changed


def _write_access(cx: Connection, corpus_id: str, document_ids: Sequence[str], access: DocumentAccess) -> None:
    cx.execute(
        f"UPDATE document_rows SET access = ? WHERE {OF_CORPUS} AND id IN (SELECT from_hex(value) FROM json_each(?))",
        (dump_access(access), corpus_id, id_list(document_ids)),
    )


def _write_document(cx: Connection, corpus_id: str, revision: NewRevision, number: int, *, exists: bool) -> None:
    id = document_id(revision.key)
    if exists:
        cx.execute(f"UPDATE document_rows SET newest = ? WHERE {OF_ID}", (number, corpus_id, id))
    else:
        cx.execute(
            "INSERT INTO document_rows (corpus, id, key, title, metadata, newest) VALUES (?, from_hex(?), ?, ?, ?, ?)",
            (
                make_corpus_number(cx, corpus_id),
                id,
                revision.key,
                revision.title or revision.key,
                dump(dict(revision.metadata)),
                number,
            ),
        )


def _move_to_job(cx: Connection, newest: sqlite3.Row, job: str) -> None:
    """Moves an unfinished revision to the job that submitted it last.

    Its caller waits for the revision, and the process that submitted it first may be dead. A revision that is paused by
    the budget of its former job is queued again.
    """
    if newest["job_id"] == job:
        return
    move_to_job(cx, newest, job)
    if RevisionState(newest["state"]).in_work:
        cx.execute("UPDATE jobs SET started_at = coalesce(started_at, ?) WHERE id = ?", (now(), job))
    if newest["state"] == RevisionState.PAUSED.value:
        set_state(cx, [newest["seq"]], RevisionState.QUEUED)
    finish_if_done(cx, newest["job_id"])


def _enqueue_deletion(cx: Connection, document: sqlite3.Row, job: str, generation: int) -> int:
    """Hides a document, logs its chunks as deleted, withdraws the questions that it was retrieved for, and queues the
    revision that deletes it. Returns how many questions it withdrew.
    """
    corpus_id, id = document["corpus_id"], document["id"]
    newest = read_newest(cx, document)
    if newest["state"] in STOPPABLE:
        cancel(cx, [newest["seq"]], SUPERSEDED)
    if not document["hidden"]:
        chunks = cx.execute("SELECT id FROM chunk_rows WHERE document = ?", (document["number"],))
        log_chunks(cx, corpus_id, generation, [row["id"].hex() for row in chunks])
    withdrawn = withdraw(cx, corpus_id, id)
    insert_deletion(cx, corpus_id, id, job)
    return withdrawn


class SqliteSubmissions:
    """Implements `core.ports.record.Submissions`, for a caller that may change the documents that match `where`."""

    def __init__(
        self, database: SqliteDatabase, submitted_by: str | None = None, where: DocumentFilter | None = None
    ) -> None:
        self._database = database
        self._submitted_by = submitted_by
        self._where = where

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
    ) -> Enqueued:
        check_distinct_keys(revisions)

        def work(cx: Connection) -> Enqueued:
            corpus = read_writable_corpus(cx, corpus_id)
            if self._where is not None:
                _check_within(cx, corpus_id, revisions, self._where)
            if on_conflict is OnConflict.ERROR:
                _check_no_conflict(cx, corpus_id, revisions)
            job = job_id or insert_job(
                cx, corpus, JobKind.INGEST, is_open=False, token_budget=token_budget, submitted_by=self._submitted_by
            )
            documents = enqueue_into(cx, corpus_id, job, revisions, on_conflict)
            finish_if_done(cx, job)
            return Enqueued(job=read_job(cx, job), documents=documents)

        return await self._database.write(work)

    async def count_queued(self, corpus_id: str, *, at_most: int) -> int:
        def work(cx: Connection) -> int:
            row = cx.execute(
                f"""
                SELECT count(*) FROM (
                    SELECT 1 FROM revision_rows r WHERE {UNFINISHED_ROWS} AND r.{OF_CORPUS} AND r.state = 'queued'
                    LIMIT ?
                )
                """,
                (corpus_id, at_most),
            ).fetchone()
            return int(row[0])

        return await self._database.read(work)

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        def is_same(cx: Connection, key: str) -> bool:
            row = find_visible_document(cx, corpus_id, document_id(key), self._where)
            return row is not None and is_unchanged(newest_of_row(row, read_newest(cx, row)), fingerprints[key])

        return await self._database.read(lambda cx: frozenset(key for key in fingerprints if is_same(cx, key)))

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        def work(cx: Connection) -> str:
            corpus = read_writable_corpus(cx, corpus_id)
            return insert_job(
                cx, corpus, kind, is_open=True, token_budget=token_budget, submitted_by=self._submitted_by
            )

        return await self._database.write(work)

    async def close_job(self, job_id: str) -> Job:
        def work(cx: Connection) -> Job:
            close_job(cx, job_id)
            return read_job(cx, job_id)

        return await self._database.write(work)

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        def work(cx: Connection) -> Job:
            corpus = read_writable_corpus(cx, corpus_id)
            found = {id: read_deletable_document(cx, corpus_id, id, self._where) for id in dict.fromkeys(document_ids)}
            missing = [id for id, row in found.items() if row is None]
            if missing:
                raise document_missing(missing[0])
            return _delete(cx, corpus, [row for row in found.values() if row is not None], self._submitted_by)

        return await self._database.write(work)

    async def delete_existing(self, corpus_id: str, document_ids: Sequence[str]) -> Deletion:
        def work(cx: Connection) -> Deletion:
            corpus = read_writable_corpus(cx, corpus_id)
            found = {id: read_deletable_document(cx, corpus_id, id, self._where) for id in dict.fromkeys(document_ids)}
            job = _delete(cx, corpus, [row for row in found.values() if row is not None], self._submitted_by)
            return Deletion(job=job, missing=tuple(id for id, row in found.items() if row is None))

        return await self._database.write(work)

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            document = read_document(cx, corpus_id, document_id)
            newest = read_newest(cx, document) if document is not None and document["hidden"] else None
            return read_job(cx, newest["job_id"]) if newest is not None and newest["deletion"] else None

        return await self._database.read(work)

    async def amend(self, corpus_id: str, document_id: str, change: Callable[[NewRevision], NewRevision]) -> Enqueued:
        def work(cx: Connection) -> Enqueued:
            corpus = read_writable_corpus(cx, corpus_id)
            document = read_visible_document(cx, corpus_id, document_id, self._where)
            newest = read_newest(cx, document)
            check_amendable(document["key"], newest["state"])
            changed = change(_read_submission(document, newest))
            job = insert_job(cx, corpus, JobKind.INGEST, is_open=False, submitted_by=self._submitted_by)
            documents = enqueue_into(cx, corpus_id, job, [changed], OnConflict.REPLACE)
            finish_if_done(cx, job)
            return Enqueued(job=read_job(cx, job), documents=documents)

        return await self._database.write(work)

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        def work(cx: Connection) -> frozenset[str]:
            read_writable_corpus(cx, corpus_id)
            ids = dict.fromkeys(document_ids)
            found = [row for id in ids if (row := find_visible_document(cx, corpus_id, id, self._where))]
            changed = [row["id"] for row in found if bool(row["disabled"]) == enabled]
            if changed:
                _set_enabled(cx, corpus_id, changed, enabled=enabled)
            return frozenset(changed)

        return await self._database.write(work)

    async def set_access(self, corpus_id: str, document_ids: Sequence[str], access: DocumentAccess) -> frozenset[str]:
        def work(cx: Connection) -> frozenset[str]:
            read_writable_corpus(cx, corpus_id)
            ids = dict.fromkeys(document_ids)
            found = [row for id in ids if (row := find_visible_document(cx, corpus_id, id, self._where))]
            if found:
                numbers = id_list([row["number"] for row in found])
                among = "document IN (SELECT value FROM json_each(?))"
                cx.execute(f"UPDATE revision_rows SET access = NULL WHERE {among} AND access IS NOT NULL", (numbers,))
                _write_access(cx, corpus_id, [row["id"] for row in found], access)
                raise_generation(cx, corpus_id)
            return frozenset(row["id"] for row in found)

        return await self._database.write(work)

    async def retry(self, corpus_id: str, document_id: str, *, check: Check | None = None) -> Job:
        def work(cx: Connection) -> Job:
            corpus = read_writable_corpus(cx, corpus_id)
            document = read_visible_document(cx, corpus_id, document_id, self._where)
            newest = read_newest(cx, document)
            check_retriable(document["key"], newest["state"])
            if check is not None:
                check(_read_submission(document, newest))
            job = insert_job(cx, corpus, JobKind.INGEST, is_open=False, submitted_by=self._submitted_by)
            move_to_job(cx, newest, job)
            cx.execute("UPDATE revision_rows SET attempts = 0, epoch = epoch + 1 WHERE seq = ?", (newest["seq"],))
            set_state(cx, [newest["seq"]], RevisionState.QUEUED)
            return read_job(cx, job)

        return await self._database.write(work)


def _read_submission(document: sqlite3.Row, revision: sqlite3.Row) -> NewRevision:
    return load_new_revision({**dict(revision), "key": document["key"]}.__getitem__)


def _set_enabled(cx: Connection, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> None:
    values = (corpus_id, id_list(document_ids))
    among = f"d.{OF_CORPUS} AND d.id IN (SELECT from_hex(value) FROM json_each(?))"
    cx.execute(f"UPDATE document_rows AS d SET disabled = ? WHERE {among}", (int(not enabled), *values))
    chunks = cx.execute(
        f"""
        SELECT c.id FROM document_rows d CROSS JOIN chunk_rows c ON c.document = d.number
        WHERE {among} AND d.hidden = 0
        """,
        values,
    )
    generation = raise_generation(cx, corpus_id)
    log_chunks(cx, corpus_id, generation, [row["id"].hex() for row in chunks.fetchall()])


def _delete(cx: Connection, corpus: Corpus, documents: Sequence[sqlite3.Row], submitted_by: str | None) -> Job:
    job = insert_job(cx, corpus, JobKind.DELETE, is_open=False, submitted_by=submitted_by)
    generation = raise_generation(cx, corpus.id)
    withdrawn = {row["key"]: _enqueue_deletion(cx, row, job, generation) for row in documents}
    insert_answers(cx, corpus.id, withdrawn, job, submitted_by)
    finish_if_done(cx, job)
    return read_job(cx, job)
