"""Jobs: creating, closing and reading them, within a transaction."""

from datetime import UTC, datetime

from core.corpora import Corpus
from core.errors import NotFound
from core.ids import new_id
from core.jobs import Job, JobKind, JobState, job_state
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.states import COUNTED, finish_if_done
from stores.payloads import moment

__all__ = [
    "SHOWN_FAILURES",
    "abandoned_jobs",
    "close_job",
    "insert_job",
    "job_from_row",
    "lock_job",
    "number_job",
    "read_job",
    "touch_job",
]

SHOWN_FAILURES = 20
"""How many failures of a job are read with it."""

_ABANDONED_SECONDS = 600
_NEVER_ABANDONED = (JobKind.REINDEX.value, JobKind.RESTORE.value)  # another process continues them


def lock_job(tx: Transaction, job_id: str) -> None:
    """Locks the corpus of a job, for a transaction that knows only the job. Raises `NotFound` if there is no job."""
    if tx.row(statements("jobs")["lock"], id=job_id, token=new_id()) is None:
        raise _missing(job_id)


def insert_job(
    tx: Transaction, corpus: Corpus, kind: JobKind, *, is_open: bool, token_budget: int | None = None
) -> str:
    """Creates a job without revisions. `number_job` must follow at the end of the transaction. Returns the id."""
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
    """Gives a new job its place among all jobs. It must be the last write, as it blocks writers of all corpora."""
    tx.run(statements("jobs")["number"], id=job_id)


def touch_job(tx: Transaction, job_id: str) -> None:
    """Records that the client of an open job is alive."""
    tx.run(statements("jobs")["touch"], id=job_id)


def close_job(tx: Transaction, job_id: str, *, cancelled: bool = False) -> None:
    """Closes a job: no more revisions are added to it. Its corpus is locked."""
    tx.run(statements("jobs")["close"], id=job_id, cancelled=cancelled)
    finish_if_done(tx, [job_id])


def abandoned_jobs(tx: Transaction) -> list[str]:
    """Returns the ids of open jobs whose client died before closing them. Close each in a transaction of its own."""
    rows = tx.rows(statements("jobs")["abandoned"], seconds=_ABANDONED_SECONDS, kinds=_NEVER_ABANDONED)
    return [row["id"] for row in rows]


def read_job(tx: Transaction, job_id: str) -> Job:
    """Raises `NotFound` if there is no such job."""
    row = tx.row(statements("jobs")["read"], id=job_id, failures=SHOWN_FAILURES)
    if row is None:
        raise _missing(job_id)
    return job_from_row(row["job"])


def _missing(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id!r}; `hopweave jobs list` shows those that there are")


def job_from_row(row: Row) -> Job:
    """Takes a job's properties, with `failures`, pairs of key and reason."""
    counts = {state: row[f"n_{state}"] for state in sorted(COUNTED) if row[f"n_{state}"] > 0}
    state = job_state(counts, cancelled=row["cancelled"])
    if row["open"] and state.final:
        state = JobState.RUNNING if row.get("started_at") else JobState.QUEUED
    return Job(
        id=row["id"],
        corpus_id=row["corpus_id"],
        corpus_name=row["corpus_name"],
        kind=JobKind(row["kind"]),
        state=state,
        counts=counts,
        malformed_triples=row["malformed"],
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        started_at=moment(row.get("started_at")),
        finished_at=moment(row.get("finished_at")),
        token_budget=row.get("token_budget"),
        calls=row["calls"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        failures=tuple((key, reason) for key, reason in row["failures"]),
    )
