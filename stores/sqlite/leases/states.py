"""Moving revisions from state to state, with the counts of their jobs: the only place that writes `revisions.state`."""

from collections import Counter
from collections.abc import Sequence

from core.documents import RevisionState
from stores.sqlite.database import Connection, now

__all__ = ["STOPPABLE", "UNFINISHED", "WORKING", "count", "finish_if_done", "move"]

WORKING = tuple(s.value for s in RevisionState if s.in_work)
UNFINISHED = (RevisionState.QUEUED.value, *WORKING)
STOPPABLE = (*UNFINISHED, RevisionState.PAUSED.value)


def move(cx: Connection, seqs: Sequence[int], state: RevisionState, *, reason: str | None = None) -> None:
    """Put revisions into `state` and keep their jobs' counts, starts and ends true."""
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
        count(cx, job_id, name, change)
    for job_id in {job_id for job_id, _ in jobs}:
        if state.in_work:
            cx.execute("UPDATE jobs SET started_at = coalesce(started_at, ?) WHERE id = ?", (at, job_id))
        finish_if_done(cx, job_id)


def count(cx: Connection, job_id: str, state: str, change: int) -> None:
    if change:
        cx.execute(
            "INSERT INTO job_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            (job_id, state, change),
        )


def finish_if_done(cx: Connection, job_id: str) -> None:
    """Set the end of a job that takes no more revisions and has no unfinished one; clear it where work came back."""
    marks = ", ".join("?" * len(STOPPABLE))
    unfinished = cx.execute(
        f"SELECT coalesce(sum(n), 0) FROM job_counts WHERE job_id = ? AND state IN ({marks})",
        (job_id, *STOPPABLE),
    ).fetchone()[0]
    if unfinished:
        cx.execute("UPDATE jobs SET finished_at = NULL WHERE id = ?", (job_id,))
    else:
        cx.execute("UPDATE jobs SET finished_at = coalesce(finished_at, ?) WHERE id = ? AND open = 0", (now(), job_id))
