"""Revisions in the queue, as functions of one transaction: their states, their rows, and their ends without a commit.

- States come first, with the counts and ends of their jobs. No other module writes `revisions.state`.
- Rows of queued revisions follow, and the documents and corpora that they are written for.
- Ends come last: revisions are queued again, paused, failed or cancelled. These functions take the `seq` of revisions
  whose claims are valid. They raise the epoch, so that the claims are fenced.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from core.corpora import Corpus
from core.documents import RevisionState
from core.filters import DocumentFilter
from core.ports.record import NewRevision
from core.record_policy.errors import corpus_missing, document_missing
from core.record_policy.submissions import STOPPABLE, UNFINISHED, WORKING, NewestRevision, is_being_deleted, is_visible
from stores.record_rows import dump, dump_access, is_within, load_access
from stores.sqlite.database import Connection, now
from stores.sqlite.packing import pack_hash, pack_media_type
from stores.sqlite.rows import OF_ID, corpus_from_row, marks

INDEXED_STATES = {
    "revisions_unfinished": "state IN ('queued', 'loading', 'extracting', 'writing', 'deleting')",
    "revisions_halted": "state IN ('paused', 'failed', 'cancelled')",
}
"""Indexes of the revisions that are in some states, with the conditions that `schema.sql` gives them."""


def set_state(cx: Connection, seqs: Sequence[int], state: RevisionState, *, reason: str | None = None) -> None:
    """Sets the state of revisions, and updates the counts, starts and ends of their jobs."""
    at = now()
    jobs: Counter[tuple[str, str]] = Counter()
    bytes_done: Counter[str] = Counter()
    for seq in seqs:
        row = cx.execute("SELECT job_id, state, size FROM revisions WHERE seq = ?", (seq,)).fetchone()
        jobs[row["job_id"], row["state"]] -= 1
        jobs[row["job_id"], state.value] += 1
        bytes_done[row["job_id"]] += row["size"] * (state.final - RevisionState(row["state"]).final)
    ended = ", owner = NULL, lease_until = 0" if state.final else ""
    cx.executemany(
        f"UPDATE revision_rows SET state = ?, reason = ?, updated_at = ?{ended} WHERE seq = ?",
        [(state.value, reason, at, seq) for seq in seqs],
    )
    if state is RevisionState.LOADING or not state.in_work:
        cx.executemany("DELETE FROM revision_progress WHERE seq = ?", [(seq,) for seq in seqs])
    for job_id, change in bytes_done.items():
        add_progress(cx, job_id, bytes_done=change)
    for (job_id, name), change in jobs.items():
        add_count(cx, job_id, name, change)
    for job_id in {job_id for job_id, _ in jobs}:
        if state.in_work:
            cx.execute("UPDATE jobs SET started_at = coalesce(started_at, ?) WHERE id = ?", (at, job_id))
        finish_if_done(cx, job_id)


def add_count(cx: Connection, job_id: str, state: str, change: int) -> None:
    """Adds to the number of a job's revisions in a state, or of its `unchanged` or `skipped` submissions."""
    if change:
        cx.execute(
            "INSERT INTO job_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            (job_id, state, change),
        )


def add_progress(cx: Connection, job_id: str, *, bytes: int = 0, bytes_done: int = 0, passages: int = 0) -> None:
    """Adds to a job's counts: bytes of all its revisions, bytes of its final revisions, and indexed passages."""
    if bytes or bytes_done or passages:
        cx.execute(
            """
            INSERT INTO job_progress VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes,
            bytes_done = bytes_done + excluded.bytes_done, passages = passages + excluded.passages, at = excluded.at
            """,
            (job_id, bytes, bytes_done, passages, now()),
        )


def move_to_job(cx: Connection, revision: sqlite3.Row, job_id: str) -> None:
    """Moves a revision to another job, with what the jobs count of it. The caller calls `finish_if_done`."""
    size = revision["size"]
    done = size * RevisionState(revision["state"]).final
    for id, sign in ((revision["job_id"], -1), (job_id, 1)):
        add_count(cx, id, revision["state"], sign)
        add_progress(cx, id, bytes=sign * size, bytes_done=sign * done)
    cx.execute(
        "UPDATE revision_rows SET job = (SELECT seq FROM jobs WHERE id = ?) WHERE seq = ?", (job_id, revision["seq"])
    )


def finish_if_done(cx: Connection, job_id: str) -> None:
    """Sets the end of a closed job without unfinished revisions. Clears the end of a job that has some again."""
    unfinished = cx.execute(
        f"SELECT coalesce(sum(n), 0) FROM job_counts WHERE job_id = ? AND state IN ({marks(STOPPABLE)})",
        (job_id, *STOPPABLE),
    ).fetchone()[0]
    if unfinished:
        cx.execute("UPDATE jobs SET finished_at = NULL WHERE id = ?", (job_id,))
    else:
        cx.execute("UPDATE jobs SET finished_at = coalesce(finished_at, ?) WHERE id = ? AND open = 0", (now(), job_id))


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


def find_visible_document(
    cx: Connection, corpus_id: str, document_id: str, where: DocumentFilter | None
) -> sqlite3.Row | None:
    """Returns None if the document does not exist, is being deleted or does not match."""
    row = read_document(cx, corpus_id, document_id)
    if row is None:
        return None
    newest = read_newest(cx, row)
    seen = is_visible(newest_of_row(row, newest)) and is_within(where, row.__getitem__, newest.__getitem__)
    return row if seen else None


def read_visible_document(
    cx: Connection, corpus_id: str, document_id: str, where: DocumentFilter | None
) -> sqlite3.Row:
    """Raises `NotFound` if the document does not exist, is being deleted or does not match."""
    row = find_visible_document(cx, corpus_id, document_id, where)
    if row is None:
        raise document_missing(document_id)
    return row


def read_deletable_document(
    cx: Connection, corpus_id: str, document_id: str, where: DocumentFilter | None
) -> sqlite3.Row | None:
    """Returns None if the document does not exist, is being deleted or does not match.

    A document that could not be deleted matches no filter: it has no fields any more.
    """
    if where is not None:
        return find_visible_document(cx, corpus_id, document_id, where)
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
        access=load_access(document["access"]),
        pending=load_access(revision["access"]),
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
                                   size, title, metadata, access, job, updated_at)
        SELECT d.corpus, d.number, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT seq FROM jobs WHERE id = ?), ?
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
            dump_access(revision.access),
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


UNFINISHED_ROWS = f"r.state IN ({', '.join(map(repr, UNFINISHED))})"  # as in the condition of the partial index


def release(cx: Connection, seqs: Sequence[int]) -> None:
    """Queues revisions again. The attempt does not count."""
    _end(cx, seqs, RevisionState.QUEUED)


def pause(cx: Connection, jobs: Iterable[tuple[int, str]], reason: str) -> None:
    """Pauses revisions, given with the jobs that they were claimed for, and the queued revisions of these jobs.

    A revision that has moved to another job is released.
    """
    moved: list[int] = []
    stopped: defaultdict[str, list[int]] = defaultdict(list)
    for seq, job_id in jobs:
        current = str(cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"])
        (stopped[job_id] if current == job_id else moved).append(seq)
    release(cx, moved)
    for job_id in stopped:
        rows = cx.execute(
            "SELECT seq FROM revision_rows WHERE job = (SELECT seq FROM jobs WHERE id = ?) AND state = 'queued'",
            (job_id,),
        )
        set_state(cx, [row["seq"] for row in rows], RevisionState.PAUSED, reason=reason)
    _end(cx, [seq for seqs in stopped.values() for seq in seqs], RevisionState.PAUSED, reason)


def _end(cx: Connection, seqs: Sequence[int], state: RevisionState, reason: str | None = None) -> None:
    cx.executemany(
        """
        UPDATE revision_rows SET owner = NULL, lease_until = 0, epoch = epoch + 1, attempts = attempts - 1
        WHERE seq = ?
        """,
        [(seq,) for seq in seqs],
    )
    set_state(cx, seqs, state, reason=reason)


def fail(cx: Connection, seq: int, key: str, reason: str) -> None:
    """Ends a revision as failed, and lists the document among the failures of its job.

    A deletion that the revision superseded is queued again.
    """
    job_id = cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"]
    _fence(cx, [seq])
    set_state(cx, [seq], RevisionState.FAILED, reason=reason)
    cx.execute("INSERT OR REPLACE INTO job_failures VALUES (?, ?, ?)", (job_id, key, reason))
    requeue_deletions(cx, [seq])


def cancel(cx: Connection, seqs: Sequence[int], reason: str) -> None:
    """Cancels revisions that are not final."""
    _fence(cx, seqs)
    set_state(cx, seqs, RevisionState.CANCELLED, reason=reason)


def _fence(cx: Connection, seqs: Sequence[int]) -> None:
    cx.executemany("UPDATE revision_rows SET epoch = epoch + 1, owner = NULL WHERE seq = ?", [(seq,) for seq in seqs])


def expire_all(cx: Connection) -> int:
    """See `core.ports.record.Maintenance.expire_leases`. The claims are fenced before workers claim again."""
    rows = cx.execute(
        f"SELECT seq FROM revisions r WHERE {UNFINISHED_ROWS} AND r.state IN ({marks(WORKING)}) AND owner IS NOT NULL",
        WORKING,
    )
    seqs = [row["seq"] for row in rows]
    set_state(cx, seqs, RevisionState.QUEUED)
    cx.executemany(
        "UPDATE revision_rows SET owner = NULL, lease_until = 0, epoch = epoch + 1 WHERE seq = ?",
        [(seq,) for seq in seqs],
    )
    return len(seqs)
