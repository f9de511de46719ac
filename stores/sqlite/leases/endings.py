"""The end of claims without a commit: revisions are queued again, paused, failed or cancelled.

The functions take the `seq` of revisions whose claims are valid. They raise the epoch, so that the claims are fenced.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from core.documents import RevisionState
from core.record_policy.states import UNFINISHED, WORKING
from stores.sqlite.database import Connection
from stores.sqlite.leases.revisions import requeue_deletions
from stores.sqlite.leases.states import set_state
from stores.sqlite.rows import marks

__all__ = ["UNFINISHED_ROWS", "cancel", "expire_all", "fail", "pause", "release"]

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


def expire_all(cx: Connection, except_worker: str | None) -> int:
    """See `core.ports.record.Maintenance.expire_leases`. The claims are fenced before other workers claim again."""
    rows = cx.execute(
        f"SELECT seq FROM revisions r WHERE {UNFINISHED_ROWS} AND r.state IN ({marks(WORKING)}) AND owner IS NOT ?",
        (*WORKING, except_worker),
    )
    seqs = [row["seq"] for row in rows]
    set_state(cx, seqs, RevisionState.QUEUED)
    cx.executemany(
        "UPDATE revision_rows SET owner = NULL, lease_until = 0, epoch = epoch + 1 WHERE seq = ?",
        [(seq,) for seq in seqs],
    )
    return len(seqs)
