"""The port of jobs in Neo4j."""

from collections.abc import Sequence

from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import Conflict, NotFound
from core.ids import new_id
from core.jobs import Job, JobKind
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.states import STOPPABLE, finish_if_done, move
from stores.neo4j.rows import job_from_row

__all__ = ["Neo4jJobs", "abandoned", "close_job", "insert_job", "lock_job", "number_job", "read_job", "touch_job"]

_SHOWN_FAILURES = 20
_ABANDONED_SECONDS = 600
_NEVER_ABANDONED = (JobKind.REINDEX.value, JobKind.RESTORE.value)  # go on, whoever takes them up


class Neo4jJobs:
    """Fills `core.ports.record.Jobs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, job_id: str) -> Job:
        return await self._database.read(lambda tx: read_job(tx, job_id))

    async def list(self, *, limit: int = 50) -> Sequence[Job]:
        def work(tx: Transaction) -> list[Job]:
            rows = tx.rows(statements("jobs")["newest"], limit=limit, failures=_SHOWN_FAILURES)
            return [job_from_row(row["job"]) for row in rows]

        return await self._database.read(work)

    async def cancel(self, job_id: str) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            job = read_job(tx, job_id)
            if job.state.final or job.kind is JobKind.DROP:  # what was dropped has no name to come back to
                return job
            rows = tx.rows(statements("jobs")["revisions"], id=job_id, states=STOPPABLE)
            content = [row["uid"] for row in rows if not row["deletion"]]  # a deletion is a promise: it is kept
            move(tx, content, RevisionState.CANCELLED, reason="the job was cancelled", fence=True)
            close_job(tx, job_id, cancelled=True)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            rows = tx.rows(statements("jobs")["revisions"], id=job_id, states=[RevisionState.PAUSED.value])
            if not rows:
                raise Conflict(f"job {job_id!r} is {read_job(tx, job_id).state}; only a paused job can be resumed")
            tx.run(statements("jobs")["grant"], id=job_id, tokens=tokens)
            move(tx, [row["uid"] for row in rows], RevisionState.QUEUED)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)


def lock_job(tx: Transaction, job_id: str) -> None:
    """Take the lock of a job's corpus, for a transaction that knows the job alone. Raises `NotFound`."""
    if tx.row(statements("jobs")["lock"], id=job_id, token=new_id()) is None:
        raise _missing(job_id)


def insert_job(
    tx: Transaction, corpus: Corpus, kind: JobKind, *, is_open: bool, token_budget: int | None = None
) -> str:
    """A job without revisions. `number_job` must follow, at the end of the transaction."""
    job = {
        "id": new_id(),
        "corpus_id": corpus.id,
        "corpus_name": corpus.name,
        "kind": kind.value,
        "open": is_open,
        "token_budget": token_budget,
        "token_grant": token_budget,
    }
    tx.run(statements("jobs")["insert"], job=job)
    return str(job["id"])


def number_job(tx: Transaction, job_id: str) -> None:
    """Give a new job its place among all; the last write of a transaction, for all corpora wait for each other here."""
    tx.run(statements("jobs")["number"], id=job_id)


def touch_job(tx: Transaction, job_id: str) -> None:
    """Say that an open job's maker is alive."""
    tx.run(statements("jobs")["touch"], id=job_id)


def close_job(tx: Transaction, job_id: str, *, cancelled: bool = False) -> None:
    """No more is added to a job, whose corpus is locked."""
    tx.run(statements("jobs")["close"], id=job_id, cancelled=cancelled)
    finish_if_done(tx, [job_id])


def abandoned(tx: Transaction) -> list[str]:
    """Open jobs whose maker died before he could say that it was all; `close_job` them, each in a transaction."""
    found = tx.rows(statements("jobs")["abandoned"], seconds=_ABANDONED_SECONDS, kinds=_NEVER_ABANDONED)
    return [row["id"] for row in found]


def read_job(tx: Transaction, job_id: str) -> Job:
    row = tx.row(statements("jobs")["read"], id=job_id, failures=_SHOWN_FAILURES)
    if row is None:
        raise _missing(job_id)
    return job_from_row(row["job"])


def _missing(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id!r}; `hopweave jobs list` shows those that there are")
