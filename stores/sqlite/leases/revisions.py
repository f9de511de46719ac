"""Rows of queued revisions, and the documents and corpora that they are written for."""

import sqlite3
from collections.abc import Iterable

from core.corpora import Corpus
from core.documents import RevisionState
from core.ports.record import NewRevision
from core.record_policy.errors import corpus_missing, document_missing
from core.record_policy.submissions import NewestRevision, is_being_deleted, is_visible
from stores.payloads import dump
from stores.sqlite.database import Connection, now
from stores.sqlite.leases.states import add_count, add_progress, finish_if_done
from stores.sqlite.numbers import OF_ID
from stores.sqlite.rows import corpus_from_row
from stores.sqlite.short_values import pack_hash, pack_media_type

__all__ = [
    "insert_deletion",
    "insert_revision",
    "newest_of_row",
    "next_number",
    "read_deletable_document",
    "read_document",
    "read_newest",
    "read_visible_document",
    "read_writable_corpus",
    "requeue_deletions",
]


def read_writable_corpus(cx: Connection, corpus_id: str) -> Corpus:
    """Raises `NotFound` if the corpus is deleted. Shadow corpora are writable."""
    row = cx.execute(
        "SELECT * FROM corpora WHERE id = ? AND (name IS NOT NULL OR beside IS NOT NULL)", (corpus_id,)
    ).fetchone()
    if row is None:
        raise corpus_missing(corpus_id)
    return corpus_from_row(row)


def read_document(cx: Connection, corpus_id: str, document_id: str) -> sqlite3.Row | None:
    """Returns the row of a document, also while it is being deleted."""
    row: sqlite3.Row | None = cx.execute(
        "SELECT * FROM documents WHERE corpus_id = ? AND raw_id = from_hex(?)", (corpus_id, document_id)
    ).fetchone()
    return row


def read_visible_document(cx: Connection, corpus_id: str, document_id: str) -> sqlite3.Row:
    """Raises `NotFound` if the document does not exist or is being deleted."""
    row = read_document(cx, corpus_id, document_id)
    if row is None or not is_visible(newest_of_row(row, read_newest(cx, row))):
        raise document_missing(document_id)
    return row


def read_deletable_document(cx: Connection, corpus_id: str, document_id: str) -> sqlite3.Row | None:
    """Returns None if the document does not exist or is being deleted."""
    row = read_document(cx, corpus_id, document_id)
    return None if row is None or is_being_deleted(newest_of_row(row, read_newest(cx, row))) else row


def read_newest(cx: Connection, document: sqlite3.Row) -> sqlite3.Row:
    """Returns the row of the newest revision of a document."""
    row: sqlite3.Row = cx.execute(
        "SELECT * FROM revisions WHERE document = ? AND number = ?", (document["number"], document["newest"])
    ).fetchone()
    return row


def newest_of_row(document: sqlite3.Row, revision: sqlite3.Row) -> NewestRevision:
    return NewestRevision(
        state=RevisionState(revision["state"]),
        fingerprint=revision["fingerprint"],
        deletion=bool(revision["deletion"]),
        hidden=bool(document["hidden"]),
    )


def next_number(cx: Connection) -> int:
    """Returns the number of the next revision.

    No number is given twice, not even to a document that was deleted and comes again: no late claim fits a newer
    revision.
    """
    row = cx.execute("SELECT seq FROM sqlite_sequence WHERE name = 'revision_rows'").fetchone()
    return int(row["seq"]) + 1 if row else 1


def insert_revision(
    cx: Connection, corpus_id: str, id: str, number: int, revision: NewRevision, job: str, *, deletion: bool = False
) -> None:
    """Inserts a queued revision of the document `id`, and counts it."""
    cx.execute(
        f"""
        INSERT INTO revision_rows (corpus, document, number, deletion, state, fingerprint, content_hash, media_type,
                                   size, title, metadata, job, updated_at)
        SELECT d.corpus, d.number, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT seq FROM jobs WHERE id = ?), ?
        FROM document_rows d WHERE {OF_ID}
        """,
        (
            number,
            int(deletion),
            RevisionState.QUEUED.value,
            pack_hash(revision.fingerprint),
            pack_hash(revision.content_hash),
            pack_media_type(revision.media_type),
            revision.size,
            revision.title,
            dump(dict(revision.metadata)),
            job,
            now(),
            corpus_id,
            id,
        ),
    )
    add_count(cx, job, RevisionState.QUEUED.value, 1)
    add_progress(cx, job, bytes=revision.size)


def insert_deletion(cx: Connection, corpus_id: str, id: str, job: str) -> None:
    """Hides a document, and inserts the queued revision that deletes it."""
    number = next_number(cx)
    cx.execute(f"UPDATE document_rows SET newest = ?, hidden = 1, disabled = 0 WHERE {OF_ID}", (number, corpus_id, id))
    nothing = NewRevision(key="", media_type="", content_hash="", size=0, fingerprint="", title=None, metadata={})
    insert_revision(cx, corpus_id, id, number, nothing, job, deletion=True)


def requeue_deletions(cx: Connection, seqs: Iterable[int]) -> None:
    """Queues the deletions again that these revisions superseded before they were cancelled or failed.

    Without them, the rows and the original of a document would stay, though its deletion was accepted, and nobody would
    see them. The jobs of the revisions delete the documents.
    """
    for seq in seqs:
        row = cx.execute(
            """
            SELECT r.corpus_id, r.document_id, r.job_id FROM revisions r
            JOIN document_rows d ON d.number = r.document AND d.newest = r.number
            WHERE r.seq = ? AND NOT r.deletion AND d.hidden = 1
            """,
            (seq,),
        ).fetchone()
        if row is not None:
            insert_deletion(cx, row["corpus_id"], row["document_id"], row["job_id"])
            finish_if_done(cx, row["job_id"])
