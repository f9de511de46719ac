"""Enqueueing: submissions are judged by the newest revisions of their documents and become queued revisions."""

import sqlite3
from collections.abc import Sequence

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, NotFound
from core.ids import document_id
from core.ports.record import EnqueuedDocument, NewRevision
from stores.payloads import dump
from stores.sqlite.changes import log
from stores.sqlite.database import Connection, now
from stores.sqlite.leases.states import STOPPABLE, count, finish_if_done, move
from stores.sqlite.rows import corpus_from_row

__all__ = [
    "RETRIABLE",
    "enqueue_deletion",
    "enqueue_into",
    "is_same",
    "newest_revision",
    "read_visible_document",
    "read_writable_corpus",
    "refuse_existing",
]

RETRIABLE = (RevisionState.FAILED.value, RevisionState.CANCELLED.value)


def enqueue_into(
    cx: Connection, corpus_id: str, job: str, revisions: Sequence[NewRevision], on_conflict: OnConflict
) -> tuple[EnqueuedDocument, ...]:
    """Queue revisions into a job that is there, with its counts; whether the job has ended is not looked at."""
    read_writable_corpus(cx, corpus_id)
    cx.execute("UPDATE jobs SET touched_at = ? WHERE id = ?", (now(), job))
    documents = tuple(_enqueue_one(cx, corpus_id, revision, on_conflict, job) for revision in revisions)
    count(cx, job, "unchanged", sum(d.unchanged for d in documents))
    count(cx, job, "skipped", sum(d.skipped for d in documents))
    return documents


def refuse_existing(cx: Connection, corpus_id: str, revisions: Sequence[NewRevision]) -> None:
    ids = {document_id(r.key): r.key for r in revisions}
    taken = [
        key
        for id, key in ids.items()
        if cx.execute(
            "SELECT 1 FROM documents WHERE corpus_id = ? AND id = ? AND hidden = 0", (corpus_id, id)
        ).fetchone()
    ]
    if taken:
        more = f" and {len(taken) - 10} more" if len(taken) > 10 else ""
        raise Conflict(f"documents with these keys exist already: {', '.join(taken[:10])}{more}; nothing was written")


def _enqueue_one(
    cx: Connection, corpus_id: str, revision: NewRevision, on_conflict: OnConflict, job: str
) -> EnqueuedDocument:
    id = document_id(revision.key)
    document = cx.execute("SELECT * FROM documents WHERE corpus_id = ? AND id = ?", (corpus_id, id)).fetchone()
    number = _next_number(cx)
    if document is not None:
        newest = newest_revision(cx, document)
        state = RevisionState(newest["state"])
        if is_same(newest, revision.fingerprint):
            if state.final:
                return EnqueuedDocument(id=id, key=revision.key, state=state, unchanged=True)
            _adopt(cx, newest, job)
            return EnqueuedDocument(id=id, key=revision.key, state=state)
        if on_conflict is OnConflict.SKIP and not document["hidden"]:
            return EnqueuedDocument(id=id, key=revision.key, state=state, skipped=True)
        _supersede(cx, newest)
        cx.execute("UPDATE documents SET newest = ? WHERE corpus_id = ? AND id = ?", (number, corpus_id, id))
    else:
        cx.execute(
            "INSERT INTO documents (corpus_id, id, key, title, metadata, newest) VALUES (?, ?, ?, ?, ?, ?)",
            (corpus_id, id, revision.key, revision.title or revision.key, dump(dict(revision.metadata)), number),
        )
    _insert_revision(cx, corpus_id, id, number, revision, job)
    return EnqueuedDocument(id=id, key=revision.key, state=RevisionState.QUEUED)


def enqueue_deletion(cx: Connection, document: sqlite3.Row, job: str, generation: int) -> None:
    corpus_id, id = document["corpus_id"], document["id"]
    newest = newest_revision(cx, document)
    _supersede(cx, newest)
    number = _next_number(cx)
    cx.execute("UPDATE documents SET newest = ?, hidden = 1 WHERE corpus_id = ? AND id = ?", (number, corpus_id, id))
    gone = [
        r["id"] for r in cx.execute("SELECT id FROM chunks WHERE corpus_id = ? AND document_id = ?", (corpus_id, id))
    ]
    log(cx, corpus_id, generation, "chunk", "delete", gone)
    nothing = NewRevision(
        key=document["key"], media_type="", content_hash="", size=0, fingerprint="", title=None, metadata={}
    )
    _insert_revision(cx, corpus_id, id, number, nothing, job, deletion=True)


def _next_number(cx: Connection) -> int:
    """Never given twice, also where a document went and came again: no late worker's claim fits a newer revision."""
    row = cx.execute("SELECT seq FROM sqlite_sequence WHERE name = 'revisions'").fetchone()
    return int(row["seq"]) + 1 if row else 1


def _insert_revision(
    cx: Connection, corpus_id: str, id: str, number: int, revision: NewRevision, job: str, *, deletion: bool = False
) -> None:
    cx.execute(
        """
        INSERT INTO revisions (corpus_id, document_id, number, deletion, state, fingerprint, content_hash, media_type,
                               size, title, metadata, job_id, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            corpus_id,
            id,
            number,
            int(deletion),
            RevisionState.QUEUED.value,
            revision.fingerprint,
            revision.content_hash,
            revision.media_type,
            revision.size,
            revision.title,
            dump(dict(revision.metadata)),
            job,
            now(),
        ),
    )
    count(cx, job, RevisionState.QUEUED.value, 1)


def _adopt(cx: Connection, newest: sqlite3.Row, job: str) -> None:
    """Put an unfinished revision into the job of who asked for it last: he waits for it, the first may be dead."""
    if newest["job_id"] == job:
        return
    count(cx, newest["job_id"], newest["state"], -1)
    count(cx, job, newest["state"], 1)
    cx.execute("UPDATE revisions SET job_id = ? WHERE seq = ?", (job, newest["seq"]))
    if RevisionState(newest["state"]).in_work:
        cx.execute("UPDATE jobs SET started_at = coalesce(started_at, ?) WHERE id = ?", (now(), job))
    if newest["state"] == RevisionState.PAUSED.value:  # by the budget of the other job
        move(cx, [newest["seq"]], RevisionState.QUEUED)
    finish_if_done(cx, newest["job_id"])


def is_same(newest: sqlite3.Row, fingerprint: str, *, final: bool = False) -> bool:
    """Whether a submission brings nothing new; with `final` only where it is indexed already."""
    if newest["fingerprint"] != fingerprint or newest["state"] in RETRIABLE or newest["deletion"]:
        return False
    return not final or RevisionState(newest["state"]).final


def _supersede(cx: Connection, newest: sqlite3.Row) -> None:
    """An unfinished revision gives way to a newer one; its worker, if any, is fenced."""
    if newest["state"] in STOPPABLE:
        cx.execute("UPDATE revisions SET epoch = epoch + 1, owner = NULL WHERE seq = ?", (newest["seq"],))
        move(cx, [newest["seq"]], RevisionState.CANCELLED, reason="superseded")


def newest_revision(cx: Connection, document: sqlite3.Row) -> sqlite3.Row:
    row: sqlite3.Row = cx.execute(
        "SELECT * FROM revisions WHERE corpus_id = ? AND document_id = ? AND number = ?",
        (document["corpus_id"], document["id"], document["newest"]),
    ).fetchone()
    return row


def read_visible_document(cx: Connection, corpus_id: str, id: str) -> sqlite3.Row:
    row: sqlite3.Row | None = cx.execute(
        "SELECT * FROM documents WHERE corpus_id = ? AND id = ? AND hidden = 0", (corpus_id, id)
    ).fetchone()
    if row is None:
        raise NotFound(f"there is no document with the id {id!r} in this corpus")
    return row


def read_writable_corpus(cx: Connection, corpus_id: str) -> Corpus:
    row = cx.execute(
        "SELECT * FROM corpora WHERE id = ? AND (name IS NOT NULL OR beside IS NOT NULL)", (corpus_id,)
    ).fetchone()
    if row is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return corpus_from_row(row)
