"""States of revisions, and the counts of their jobs. This is the only module that writes `Revision.state`."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from core.documents import RevisionState
from core.record_policy.states import WORKING
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.rows import JOB_COUNTS
from stores.neo4j.driver.statements import statements

__all__ = ["count", "finish_if_done", "move"]


def move(
    tx: Transaction, uids: Collection[str], state: RevisionState, *, reason: str | None = None, fence: bool = False
) -> None:
    """Moves revisions to `state`. Updates the states of their documents, and the counts, starts and ends of their jobs.

    With `fence` the epoch rises and the owner is deleted, which fences every claim on them.
    """
    changes: Counter[tuple[str, str]] = Counter()
    bytes_done: Counter[str] = Counter()
    keep = state.in_work and state is not RevisionState.LOADING  # the progress of a claim
    rows = sorted(set(uids))
    for row in tx.rows_in_batches(
        statements("states")["move"], rows, state=state.value, reason=reason, fence=int(fence), keep=keep
    ):
        changes[row["job"], row["before"]] -= row["n"]
        changes[row["job"], state.value] += row["n"]
        bytes_done[row["job"]] += row["bytes"] * (state.final - RevisionState(row["before"]).final)
    count(tx, changes, bytes_done=bytes_done)


def count(
    tx: Transaction,
    changes: Mapping[tuple[str, str], int],
    *,
    bytes: Mapping[str, int] = {},
    bytes_done: Mapping[str, int] = {},
) -> None:
    """Adds to the counts of jobs, by (job id, state), and updates the starts and ends of the jobs.

    `bytes` are those of the revisions that jobs got or lost, `bytes_done` of those that became final, by job id. The
    jobs are among those of `changes`.
    """
    jobs: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (job_id, state), change in changes.items():
        jobs[job_id][state] = change
    rows = [
        {
            "id": job_id,
            "bytes": bytes.get(job_id, 0),
            "bytes_done": bytes_done.get(job_id, 0),
            "started": any(changed.get(state, 0) > 0 for state in WORKING),
            **{state: changed.get(state, 0) for state in JOB_COUNTS},
        }
        for job_id, changed in sorted(jobs.items())
    ]
    tx.run_batches(statements("states")["count"], rows)


def finish_if_done(tx: Transaction, job_ids: Collection[str]) -> None:
    """Sets the end of jobs that are closed and have no unfinished revision; deletes the end if work came back.

    `move` and `count` do this themselves.
    """
    count(tx, {(job_id, RevisionState.QUEUED.value): 0 for job_id in job_ids})
