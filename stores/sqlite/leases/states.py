"""States of revisions, with the counts and ends of their jobs. No other module writes `revisions.state`."""

from collections import Counter
from collections.abc import Sequence

from core.documents import RevisionState
from core.record_policy.states import STOPPABLE
from stores.sqlite.database import Connection, now
from stores.sqlite.rows import marks

__all__ = ["add_count", "finish_if_done", "set_state"]


def set_state(cx: Connection, seqs: Sequence[int], state: RevisionState, *, reason: str | None = None) -> None:
    """Sets the state of revisions, and updates the counts, starts and ends of their jobs."""
    at = now()
    jobs: Counter[tuple[str, str]] = Counter()
    for seq in seqs:
        row = cx.execute("SELECT job_id, state FROM revisions WHERE seq = ?", (seq,)).fetchone()
        jobs[row["job_id"], row["state"]] -= 1
        jobs[row["job_id"], state.value] += 1
    cx.executemany(
        "UPDATE revisions SET state = ?, reason = ?, updated_at = ? WHERE seq = ?",
        [(state.value, reason, at, seq) for seq in seqs],
    )
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
