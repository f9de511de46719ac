"""Jobs in Neo4j: the functions of a transaction that create, close and read them, and the port, which comes last."""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from core.corpora import Corpus
from core.documents import RevisionState
from core.filters import DocumentFilter
from core.ids import new_id
from core.jobs import Job, JobAhead, JobKind, JobState
from core.record_policy.claims import (
    ABANDONED_SECONDS,
    NEVER_ABANDONED,
    SHOWN_FAILURES,
    is_cancellable,
    not_paused,
    size_class,
)
from core.record_policy.errors import job_missing
from core.record_policy.submissions import JOB_CANCELLED, STOPPABLE, UNFINISHED, WORKING
from core.telemetry.logs import new_job_id
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.rows import job_from_row, was_ending
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.neo4j.record.revisions import finish_if_done, move, requeue_deletions
from stores.record_rows import is_within

_READ_AGAIN, _AGAIN_SECONDS = 50, 0.01
"""How often, and how soon, a job is read again that ended while it was read."""


def lock_job(tx: Transaction, job_id: str) -> None:
    """Locks the corpus of a job, for a transaction that knows only the job. Raises `NotFound` if there is no job."""
    if tx.row(statements("jobs")["lock"], id=job_id, token=new_id()) is None:
        raise job_missing(job_id)


def insert_job(
    tx: Transaction,
    corpus: Corpus,
    kind: JobKind,
    *,
    is_open: bool,
    token_budget: int | None = None,
    submitted_by: str | None = None,
) -> str:
    """Creates a job without revisions. `number_job` must follow at the end of the transaction. Returns the id."""
    job = {
        "id": new_job_id(),
        "corpus_id": corpus.id,
        "corpus_name": corpus.name,
        "kind": kind.value,
        "open": is_open,
        "token_budget": token_budget,
        "token_grant": token_budget,
        "submitted_by": submitted_by,
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
    rows = tx.rows(statements("jobs")["abandoned"], seconds=ABANDONED_SECONDS, kinds=NEVER_ABANDONED)
    return [row["id"] for row in rows]


def read_job(tx: Transaction, job_id: str) -> Job:
    """Raises `NotFound` if there is no such job."""
    row = _read(tx, job_id)
    for _ in range(_READ_AGAIN):
        if not was_ending(row):
            break
        time.sleep(_AGAIN_SECONDS)
        row = _read(tx, job_id)
    return _add_ahead(tx, job_from_row(row))


def _add_ahead(tx: Transaction, job: Job) -> Job:
    """Returns a queued job with what is ahead of it; any other job unchanged."""
    if job.state is not JobState.QUEUED:
        return job
    first = tx.row(statements("jobs")["first_queued"], id=job.id)
    if first is None:
        return job
    most = size_class(first["size"])[-1]
    row = tx.rows(
        statements("jobs")["ahead"], corpus=first["corpus"], seq=first["seq"], most=most, unfinished=UNFINISHED
    )[0]
    return replace(job, ahead=JobAhead(documents=row["documents"], bytes=row["undone"]))


def _read(tx: Transaction, job_id: str) -> Row:
    row = tx.row(statements("jobs")["read"], id=job_id, failures=SHOWN_FAILURES, working=WORKING)
    if row is None:
        raise job_missing(job_id)
    return cast("Row", row["job"])


_LAST_SEQ = 2**63 - 1
_BATCH = 200
"""How many jobs are read at once if they are filtered by their state, which is derived from their counts."""


class Neo4jJobs:
    """Implements `core.ports.record.Jobs`, for a caller that may stop the work on documents that match `where`."""

    def __init__(self, database: Neo4jDatabase, where: DocumentFilter | None = None) -> None:
        self._database = database
        self._where = where

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
                jobs = [_add_ahead(tx, job_from_row(row["job"])) for row in rows]
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
            rows = _rows_in_states(tx, job_id, STOPPABLE)
            stopped = _select_seen(rows, self._where)
            move(tx, stopped, RevisionState.CANCELLED, reason=JOB_CANCELLED, fence=True)
            if job.kind is not JobKind.REINDEX:  # its corpus is deleted as a whole, once the job has ended
                requeue_deletions(tx, stopped)
            close_job(tx, job_id, cancelled=bool(stopped) or not rows)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        def work(tx: Transaction) -> Job:
            lock_job(tx, job_id)
            paused = _select_seen(_rows_in_states(tx, job_id, [RevisionState.PAUSED.value]), self._where)
            if not paused:
                raise not_paused(read_job(tx, job_id))
            tx.run(statements("jobs")["grant"], id=job_id, tokens=tokens)
            move(tx, paused, RevisionState.QUEUED)
            return read_job(tx, job_id)

        return await self._database.write_unlocked(work)


def _rows_in_states(tx: Transaction, job_id: str, states: Collection[str]) -> list[Row]:
    """Returns the revisions of a job in these states, without deletions: what was accepted of them is carried out."""
    return tx.rows(statements("jobs")["revisions"], id=job_id, states=list(states))


def _select_seen(rows: Sequence[Row], where: DocumentFilter | None) -> list[str]:
    """Returns the `uid` of the revisions whose documents match."""
    return [row["uid"] for row in rows if is_within(where, row["document"].get, row["newest"].get)]


def _read_seq(tx: Transaction, job_id: str) -> int:
    row = tx.row(statements("jobs")["place"], id=job_id)
    if row is None:
        raise job_missing(job_id)
    return int(row["seq"])
