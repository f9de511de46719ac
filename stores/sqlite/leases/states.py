"""States of revisions, with the counts and ends of their jobs. No other module writes `revisions.state`."""

import sqlite3
from collections import Counter
from collections.abc import Sequence

from core.documents import RevisionState
from core.record_policy.states import STOPPABLE
from stores.sqlite.database import Connection, now
from stores.sqlite.rows import marks

__all__ = ["INDEXED_STATES", "add_count", "add_progress", "finish_if_done", "move_to_job", "set_state"]

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
    """Adds to the bytes of a job's revisions, to those of them that are final, and to the passages that are indexed."""
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
