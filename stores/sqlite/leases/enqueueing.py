"""Enqueueing: submissions and deletions become queued revisions of a job."""

import sqlite3
from collections.abc import Sequence

from core.documents import OnConflict, RevisionState
from core.ids import document_id
from core.ports.record import EnqueuedDocument, NewRevision
from core.record_policy.states import STOPPABLE, SUPERSEDED
from core.record_policy.submissions import SubmissionOutcome, decide_submission, is_conflict, keys_exist
from stores.payloads import dump
from stores.sqlite.changes import log_chunks
from stores.sqlite.database import Connection, now
from stores.sqlite.leases.endings import cancel
from stores.sqlite.leases.revisions import (
    insert_deletion,
    insert_revision,
    newest_of_row,
    next_number,
    read_document,
    read_newest,
    read_writable_corpus,
)
from stores.sqlite.leases.states import add_count, finish_if_done, move_to_job, set_state
from stores.sqlite.numbers import OF_ID, make_corpus_number
from stores.sqlite.questions import withdraw

__all__ = ["check_no_conflict", "enqueue_deletion", "enqueue_into"]


def check_no_conflict(cx: Connection, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    """Raises `Conflict`, listing the keys of the documents that exist and differ."""
    documents = [(one, read_document(cx, corpus_id, document_id(one.key))) for one in revisions]
    taken = [
        one.key
        for one, row in documents
        if row is not None and is_conflict(newest_of_row(row, read_newest(cx, row)), one.fingerprint)
    ]
    if taken:
        raise keys_exist(taken)


def enqueue_into(
    cx: Connection, corpus_id: str, job: str, revisions: Sequence[NewRevision], on_conflict: OnConflict
) -> tuple[EnqueuedDocument, ...]:
    """Enqueues revisions for an existing job, and counts them. The caller calls `finish_if_done`."""
    read_writable_corpus(cx, corpus_id)
    cx.execute("UPDATE jobs SET touched_at = ? WHERE id = ?", (now(), job))
    documents = tuple(_enqueue_one(cx, corpus_id, revision, on_conflict, job) for revision in revisions)
    add_count(cx, job, "unchanged", sum(d.unchanged for d in documents))
    add_count(cx, job, "skipped", sum(d.skipped for d in documents))
    return documents


def _enqueue_one(
    cx: Connection, corpus_id: str, revision: NewRevision, on_conflict: OnConflict, job: str
) -> EnqueuedDocument:
    id = document_id(revision.key)
    document = read_document(cx, corpus_id, id)
    row = read_newest(cx, document) if document is not None else None
    newest = newest_of_row(document, row) if document is not None and row is not None else None
    decision = decide_submission(revision, newest, on_conflict)
    if row is not None and decision.outcome is SubmissionOutcome.SAME_UNFINISHED:
        _move_to_job(cx, row, job)
    if row is not None and decision.outcome is SubmissionOutcome.SUPERSEDES:
        cancel(cx, [row["seq"]], SUPERSEDED)
    if decision.outcome.makes_revision:
        number = next_number(cx)
        _write_document(cx, corpus_id, revision, number, exists=document is not None)
        insert_revision(cx, corpus_id, id, number, revision, job)
    return decision.document


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


def enqueue_deletion(cx: Connection, document: sqlite3.Row, job: str, generation: int) -> None:
    """Hides a document, logs its chunks as deleted, withdraws the questions that it was retrieved for, and queues the
    revision that deletes it.
    """
    corpus_id, id = document["corpus_id"], document["id"]
    newest = read_newest(cx, document)
    if newest["state"] in STOPPABLE:
        cancel(cx, [newest["seq"]], SUPERSEDED)
    if not document["hidden"]:
        chunks = cx.execute("SELECT id FROM chunk_rows WHERE document = ?", (document["number"],))
        log_chunks(cx, corpus_id, generation, [row["id"].hex() for row in chunks])
    withdraw(cx, corpus_id, id)
    insert_deletion(cx, corpus_id, id, job)
