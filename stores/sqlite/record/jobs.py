"""Jobs in SQLite."""

from datetime import UTC, datetime

from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import Conflict, NotFound
from core.ids import new_id
from core.jobs import Job, JobKind, JobState, derive_job_state
from stores.payloads import moment
from stores.sqlite.database import Connection, Database, now
from stores.sqlite.record.states import STOPPABLE, finish_if_done, move

__all__ = ["SqliteJobs", "close_abandoned", "insert_job", "read_job"]

_SHOWN_FAILURES = 20
_ABANDONED_SECONDS = 600


class SqliteJobs:
    """Fills `core.ports.record.Jobs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, job_id: str) -> Job:
        return await self._database.read(lambda cx: read_job(cx, job_id))

    async def all(self, *, limit: int = 50) -> list[Job]:
        def work(cx: Connection) -> list[Job]:
            ids = cx.execute("SELECT id FROM jobs ORDER BY seq DESC LIMIT ?", (limit,)).fetchall()
            return [read_job(cx, row["id"]) for row in ids]

        return await self._database.read(work)

    async def cancel(self, job_id: str) -> Job:
        def work(cx: Connection) -> Job:
            job = read_job(cx, job_id)
            if job.state.final or job.kind is JobKind.DROP:  # what was dropped has no name to come back to
                return job
            marks = ", ".join("?" * len(STOPPABLE))
            rows = cx.execute(
                f"SELECT seq, corpus_id, document_id, deletion FROM revisions WHERE job_id = ? AND state IN ({marks})",
                (job_id, *STOPPABLE),
            ).fetchall()
            content = [row["seq"] for row in rows if not row["deletion"]]  # a deletion is a promise: it is kept
            cx.executemany(
                "UPDATE revisions SET epoch = epoch + 1, owner = NULL WHERE seq = ?", [(s,) for s in content]
            )
            move(cx, content, RevisionState.CANCELLED, reason="the job was cancelled")
            cx.execute("UPDATE jobs SET cancelled = 1, open = 0 WHERE id = ?", (job_id,))
            finish_if_done(cx, job_id)
            return read_job(cx, job_id)

        return await self._database.write(work)

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        def work(cx: Connection) -> Job:
            rows = cx.execute("SELECT seq FROM revisions WHERE job_id = ? AND state = 'paused'", (job_id,)).fetchall()
            if not rows:
                raise Conflict(f"job {job_id!r} is {read_job(cx, job_id).state}; only a paused job can be resumed")
            _grant(cx, job_id, tokens)
            move(cx, [row["seq"] for row in rows], RevisionState.QUEUED)
            return read_job(cx, job_id)

        return await self._database.write(work)


def _grant(cx: Connection, job_id: str, tokens: int | None) -> None:
    """Let a job use up `tokens` from now on, or as many as the last time."""
    cx.execute("UPDATE jobs SET token_grant = coalesce(?, token_grant) WHERE id = ?", (tokens, job_id))
    cx.execute("UPDATE jobs SET token_budget = prompt_tokens + completion_tokens + token_grant WHERE id = ?", (job_id,))


def insert_job(cx: Connection, corpus: Corpus, kind: JobKind, *, is_open: bool, token_budget: int | None = None) -> str:
    job_id = new_id()
    cx.execute(
        """
        INSERT INTO jobs (id, corpus_id, corpus_name, kind, open, created_at, touched_at, token_budget, token_grant)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (job_id, corpus.id, corpus.name, kind.value, int(is_open), now(), now(), token_budget, token_budget),
    )
    return job_id


def close_abandoned(cx: Connection) -> None:
    """Close jobs whose maker has not added anything for long: he died before he could say that it was all."""
    for row in cx.execute(
        "SELECT id FROM jobs WHERE open = 1 AND touched_at < ? AND kind != 'reindex'",
        (now() - _ABANDONED_SECONDS,),
    ).fetchall():
        cx.execute("UPDATE jobs SET open = 0 WHERE id = ?", (row["id"],))
        finish_if_done(cx, row["id"])


def read_job(cx: Connection, job_id: str) -> Job:
    row = cx.execute("SELECT * FROM jobs WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no job {job_id!r}; `hopweave jobs list` shows those that there are")
    counts = {
        r["state"]: r["n"]
        for r in cx.execute("SELECT state, n FROM job_counts WHERE job_id = ? AND n > 0 ORDER BY state", (job_id,))
    }
    failures = cx.execute(
        "SELECT key, reason FROM job_failures WHERE job_id = ? ORDER BY key LIMIT ?", (job_id, _SHOWN_FAILURES)
    ).fetchall()
    state = derive_job_state(counts, cancelled=bool(row["cancelled"]))
    if row["open"] and state.final:
        state = JobState.RUNNING if row["started_at"] else JobState.QUEUED
    return Job(
        id=row["id"],
        corpus_id=row["corpus_id"],
        corpus_name=row["corpus_name"],
        kind=JobKind(row["kind"]),
        state=state,
        counts=counts,
        malformed_triples=row["malformed"],
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        started_at=moment(row["started_at"]),
        finished_at=moment(row["finished_at"]),
        token_budget=row["token_budget"],
        calls=row["calls"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        failures=tuple((r["key"], r["reason"]) for r in failures),
    )
