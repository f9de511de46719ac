"""The port of jobs in SQLite."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from core.corpora import Corpus
from core.documents import RevisionState
from core.filters import DocumentFilter
from core.graph import FitTally
from core.jobs import Job, JobAhead, JobKind, JobState
from core.record_policy.claims import (
    ABANDONED_SECONDS,
    NEVER_ABANDONED,
    SHOWN_FAILURES,
    MeasuredJob,
    RevisionProgress,
    is_cancellable,
    not_paused,
    size_class,
)
from core.record_policy.errors import job_missing
from core.record_policy.submissions import JOB_CANCELLED, STOPPABLE
from core.telemetry.logs import new_job_id
from stores.record_rows import is_within, load_job
from stores.sqlite.database import Connection, SqliteDatabase, now
from stores.sqlite.record.revisions import (
    UNFINISHED_ROWS,
    cancel,
    finish_if_done,
    read_newest,
    requeue_deletions,
    set_state,
)
from stores.sqlite.rows import marks

_OF_JOB = "job = (SELECT seq FROM jobs WHERE id = ?)"


class SqliteJobs:
    """Implements `core.ports.record.Jobs`, for a caller that may stop the work on documents that match `where`."""

    def __init__(self, database: SqliteDatabase, where: DocumentFilter | None = None) -> None:
        self._database = database
        self._where = where

    async def get(self, job_id: str) -> Job:
        return await self._database.read(lambda cx: read_job(cx, job_id))

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
        def work(cx: Connection) -> list[Job]:
            rows = cx.execute(
                """
                SELECT id FROM jobs WHERE (:seq IS NULL OR seq < :seq) AND (:corpus IS NULL OR corpus_name = :corpus)
                AND (:kind IS NULL OR kind = :kind) AND (:key IS NULL OR submitted_by = :key) ORDER BY seq DESC
                """,
                {
                    "seq": before and _read_seq(cx, before),
                    "corpus": corpus,
                    "kind": kind and kind.value,
                    "key": submitted_by,
                },
            )
            jobs = (read_job(cx, row["id"]) for row in rows)
            return list(islice((job for job in jobs if state is None or job.state is state), limit))

        return await self._database.read(work)

    async def cancel(self, job_id: str) -> Job:
        def work(cx: Connection) -> Job:
            job = read_job(cx, job_id)
            if not is_cancellable(job):
                return job
            stoppable = _read_in_states(cx, job_id, STOPPABLE)
            seqs = _select_seen(cx, stoppable, self._where)
            cancel(cx, seqs, JOB_CANCELLED)
            if job.kind is not JobKind.REINDEX:  # its corpus is deleted as a whole, once the job has ended
                requeue_deletions(cx, seqs)
            close_job(cx, job_id, cancelled=bool(seqs) or not stoppable)
            return read_job(cx, job_id)

        return await self._database.write(work)

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        def work(cx: Connection) -> Job:
            seqs = _select_seen(cx, _read_in_states(cx, job_id, [RevisionState.PAUSED.value]), self._where)
            if not seqs:
                raise not_paused(read_job(cx, job_id))
            _grant(cx, job_id, tokens)
            set_state(cx, seqs, RevisionState.QUEUED)
            return read_job(cx, job_id)

        return await self._database.write(work)


def _read_in_states(cx: Connection, job_id: str, states: Collection[str]) -> list[sqlite3.Row]:
    """Returns the revisions of a job in these states, without deletions: what was accepted of them is carried out."""
    columns = f"SELECT seq, document FROM revision_rows WHERE {_OF_JOB} AND NOT deletion"
    return cx.execute(f"{columns} AND state IN ({marks(states)})", (job_id, *states)).fetchall()


def _select_seen(cx: Connection, revisions: Iterable[sqlite3.Row], where: DocumentFilter | None) -> list[int]:
    """Returns the `seq` of the revisions whose documents match."""

    def is_seen(number: int) -> bool:
        document = cx.execute("SELECT * FROM documents WHERE number = ?", (number,)).fetchone()
        return is_within(where, document.__getitem__, read_newest(cx, document).__getitem__)

    return [row["seq"] for row in revisions if where is None or is_seen(row["document"])]


def _read_seq(cx: Connection, job_id: str) -> int:
    row = cx.execute("SELECT seq FROM jobs WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise job_missing(job_id)
    return int(row["seq"])


def _grant(cx: Connection, job_id: str, tokens: int | None) -> None:
    """Lets a job spend `tokens` from now on, or as many as the last time."""
    cx.execute("UPDATE jobs SET token_grant = coalesce(?, token_grant) WHERE id = ?", (tokens, job_id))
    cx.execute("UPDATE jobs SET token_budget = prompt_tokens + completion_tokens + token_grant WHERE id = ?", (job_id,))


def insert_job(
    cx: Connection,
    corpus: Corpus,
    kind: JobKind,
    *,
    is_open: bool,
    token_budget: int | None = None,
    submitted_by: str | None = None,
) -> str:
    """Inserts a job without revisions, and returns its id."""
    job = {
        "id": new_job_id(),
        "corpus_id": corpus.id,
        "corpus_name": corpus.name,
        "kind": kind.value,
        "open": int(is_open),
        "at": now(),
        "tokens": token_budget,
        "submitted_by": submitted_by,
    }
    cx.execute(
        """
        INSERT INTO jobs (
            id, corpus_id, corpus_name, kind, open, created_at, touched_at, token_budget, token_grant, submitted_by
        ) VALUES (:id, :corpus_id, :corpus_name, :kind, :open, :at, :at, :tokens, :tokens, :submitted_by)
        """,
        job,
    )
    return str(job["id"])


def close_job(cx: Connection, job_id: str, *, cancelled: bool = False) -> None:
    """Closes a job: nothing is added to it any more, so that it ends with its last revision."""
    cx.execute("UPDATE jobs SET open = 0, cancelled = max(cancelled, ?) WHERE id = ?", (int(cancelled), job_id))
    finish_if_done(cx, job_id)


def close_abandoned(cx: Connection) -> None:
    """Closes the open jobs whose makers died before they could close them."""
    rows = cx.execute(
        f"SELECT id FROM jobs WHERE open = 1 AND touched_at < ? AND kind NOT IN ({marks(NEVER_ABANDONED)})",
        (now() - ABANDONED_SECONDS, *NEVER_ABANDONED),
    ).fetchall()
    for row in rows:
        close_job(cx, row["id"])


def read_job(cx: Connection, job_id: str) -> Job:
    """Raises `NotFound`."""
    row = cx.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise job_missing(job_id)
    counts = {
        r["state"]: r["n"]
        for r in cx.execute("SELECT state, n FROM job_counts WHERE job_id = ? AND n > 0 ORDER BY state", (job_id,))
    }
    failures = cx.execute(
        "SELECT key, reason FROM job_failures WHERE job_id = ? ORDER BY key LIMIT ?", (job_id, SHOWN_FAILURES)
    ).fetchall()
    fits = cx.execute("SELECT within, outside, unnamed FROM job_fits WHERE job_id = ?", (job_id,)).fetchone()
    job = load_job(
        row.__getitem__, counts, [(r["key"], r["reason"]) for r in failures], _read_progress(cx, job_id), now()
    )
    job = replace(job, fits=FitTally(**fits) if fits else None)
    return replace(job, ahead=_count_ahead(cx, job_id)) if job.state is JobState.QUEUED else job


def _count_ahead(cx: Connection, job_id: str) -> JobAhead | None:
    first = cx.execute(
        f"SELECT seq, corpus, size FROM revision_rows WHERE {_OF_JOB} AND state = 'queued' ORDER BY seq LIMIT 1",
        (job_id,),
    ).fetchone()
    if first is None:
        return None
    row = cx.execute(
        f"""
        SELECT count(*) AS documents,
            coalesce(sum(r.size - coalesce(r.size * p.done / max(p.passages, 1), 0)), 0) AS undone
        FROM revision_rows r LEFT JOIN revision_progress p ON p.seq = r.seq
        WHERE r.corpus = ? AND {UNFINISHED_ROWS} AND r.seq < ? AND r.size <= ?
        """,
        (first["corpus"], first["seq"], size_class(first["size"])[-1]),
    ).fetchone()
    return JobAhead(documents=row["documents"], bytes=row["undone"])


def _read_progress(cx: Connection, job_id: str) -> MeasuredJob:
    row = cx.execute("SELECT bytes, bytes_done, passages, at FROM job_progress WHERE job_id = ?", (job_id,)).fetchone()
    in_work = cx.execute(
        f"""
        SELECT r.size, p.passages, p.done FROM revision_progress p CROSS JOIN revision_rows r
        WHERE r.seq = p.seq AND r.{_OF_JOB}
        """,
        (job_id,),
    )
    revisions = [RevisionProgress(size=r["size"], passages=r["passages"], done=r["done"]) for r in in_work]
    return MeasuredJob(
        bytes_total=row["bytes"] if row else 0,
        bytes_done=row["bytes_done"] if row else 0,
        passages=row["passages"] if row else 0,
        in_work=revisions,
        at=row["at"] if row else None,
    )
