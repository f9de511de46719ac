"""The port `Jobs` in Neo4j: listing, cancelling and resuming jobs."""

from collections.abc import Sequence

from core.documents import RevisionState
from core.jobs import Job
from core.record_policy.jobs import SHOWN_FAILURES, is_cancellable, not_paused
from core.record_policy.states import JOB_CANCELLED, STOPPABLE
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.driver.rows import job_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.jobs import close_job, lock_job, read_job
from stores.neo4j.leases.states import move

__all__ = ["Neo4jJobs"]


class Neo4jJobs:
    """Implements `core.ports.record.Jobs`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def get(self, job_id: str) -> Job:
        return await self._database.read(lambda tx: read_job(tx, job_id))

    async def list(self, *, limit: int = 50) -> Sequence[Job]:
        def work(tx: Transaction) -> list[Job]:
            rows = tx.rows(statements("jobs")["newest"], limit=limit, failures=SHOWN_FAILURES)
            return [job_from_row(row["job"]) for row in rows]

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
