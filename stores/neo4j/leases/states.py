"""Moving revisions from state to state, with the counts of their jobs: the only place that writes `Revision.state`."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from core.documents import RevisionState
from stores.neo4j.driver.database import Transaction, batches
from stores.neo4j.driver.statements import statements

__all__ = ["COUNTED", "STOPPABLE", "UNFINISHED", "WORKING", "count", "finish_if_done", "move"]

WORKING = tuple(s.value for s in RevisionState if s.in_work)
UNFINISHED = (RevisionState.QUEUED.value, *WORKING)
STOPPABLE = (*UNFINISHED, RevisionState.PAUSED.value)
COUNTED = (*(s.value for s in RevisionState), "unchanged", "skipped")
"""What a job counts, each in a property `n_…`."""


def move(
    tx: Transaction, uids: Collection[str], state: RevisionState, *, reason: str | None = None, fence: bool = False
) -> None:
    """Put revisions into `state` and keep their documents' states and their jobs' counts, starts and ends true.

    With `fence` the epoch rises and the owner goes: whoever holds a claim on them has lost it.
    """
    changes: Counter[tuple[str, str]] = Counter()
    for batch in batches(sorted(set(uids))):
        for row in tx.rows(
            statements("states")["move"], rows=batch, state=state.value, reason=reason, fence=int(fence)
        ):
            changes[row["job"], row["before"]] -= row["n"]
            changes[row["job"], state.value] += row["n"]
    count(tx, changes)


def count(tx: Transaction, changes: Mapping[tuple[str, str], int]) -> None:
    """Add to how many of (a job's revisions, in a state) there are; starts and ends of the jobs follow."""
    jobs: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (job_id, state), change in changes.items():
        jobs[job_id][state] = change
    rows = [
        {
            "id": job_id,
            "started": any(changed.get(state, 0) > 0 for state in WORKING),
            **{state: changed.get(state, 0) for state in COUNTED},
        }
        for job_id, changed in sorted(jobs.items())
    ]
    tx.run_batches(statements("states")["count"], rows)


def finish_if_done(tx: Transaction, job_ids: Collection[str]) -> None:
    """Set the end of jobs that take no more revisions and have no unfinished one; clear it where work came back.

    `move` and `count` do this themselves.
    """
    count(tx, {(job_id, RevisionState.QUEUED.value): 0 for job_id in job_ids})
