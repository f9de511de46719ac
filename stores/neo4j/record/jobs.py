"""The port `Jobs` in Neo4j: listing, cancelling and resuming jobs."""

from collections.abc import Sequence

from core.documents import RevisionState
from core.jobs import Job, JobKind, JobState
from core.record_policy.errors import job_missing
from core.record_policy.jobs import SHOWN_FAILURES, is_cancellable, not_paused
from core.record_policy.states import JOB_CANCELLED, STOPPABLE, WORKING
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.driver.rows import job_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.jobs import add_ahead, close_job, lock_job, read_job
from stores.neo4j.leases.revisions import requeue_deletions
from stores.neo4j.leases.states import move

__all__ = ["Neo4jJobs"]


_LAST_SEQ = 2**63 - 1
_BATCH = 200
"""How many jobs are read at once if they are filtered by their state, which is derived from their counts."""


class Neo4jJobs:
    """Implements `core.ports.record.Jobs`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def get(self, job_id: str) -> Job:
        return await self._database.read(lambda tx: read_job(tx, job_id))

    async def list(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        corpus: str | None = None,
        kind: JobKind | None = None,
        state: JobState | None = None,
        submitted_by: str | None = None,
    ) -> Sequence[Job]:
        def work(tx: Transaction) -> list[Job]:
            seq = _LAST_SEQ if before is None else _read_seq(tx, before)
            found: list[Job] = []
            while len(found) < limit:
                rows = tx.rows(
                    statements("jobs")["newest"],
                    before=seq,
                    corpus=corpus,
                    kind=kind and kind.value,
                    key=submitted_by,
                    limit=_BATCH if state else limit,
                    failures=SHOWN_FAILURES,
                    working=WORKING,
                )
                jobs = [add_ahead(tx, job_from_row(row["job"])) for row in rows]
                found += [job for job in jobs if state is None or job.state is state]
                if state is None or len(rows) < _BATCH:
                    break
                seq = rows[-1]["job"]["seq"]
            return found[:limit]

        return await self._database.read(work)

    async def cancel(self, job_id: str) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            job = read_job(tx, job_id)
            if not is_cancellable(job):
                return job
            rows = tx.rows(statements("jobs")["revisions"], id=job_id, states=STOPPABLE)
            stopped = [row["uid"] for row in rows if not row["deletion"]]  # a deletion that was accepted is carried out
            move(tx, stopped, RevisionState.CANCELLED, reason=JOB_CANCELLED, fence=True)
            if job.kind is not JobKind.REINDEX:  # its corpus is deleted as a whole, once the job has ended
                requeue_deletions(tx, stopped)
            close_job(tx, job_id, cancelled=True)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            rows = tx.rows(statements("jobs")["revisions"], id=job_id, states=[RevisionState.PAUSED.value])
            if not rows:
                raise not_paused(read_job(tx, job_id))
            tx.run(statements("jobs")["grant"], id=job_id, tokens=tokens)
            move(tx, [row["uid"] for row in rows], RevisionState.QUEUED)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)


def _read_seq(tx: Transaction, job_id: str) -> int:
    row = tx.row(statements("jobs")["place"], id=job_id)
    if row is None:
        raise job_missing(job_id)
    return int(row["seq"])
