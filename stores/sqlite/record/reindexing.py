"""The port of reindexing in SQLite: shadow corpora, the swap, and the deletion of corpora."""

import json
from collections.abc import Sequence

from core.corpora import Corpus, CorpusSettings
from core.documents import RevisionState
from core.errors import Conflict, NotFound
from core.ids import new_id
from core.jobs import Job, JobKind
from core.ports.record import NewRevision, Reindex, ReindexDifference
from stores.payloads import dump_settings
from stores.sqlite.database import Connection, Database, now
from stores.sqlite.leases.states import STOPPABLE, count, finish_if_done, move
from stores.sqlite.record.jobs import insert_job, read_job
from stores.sqlite.rows import corpus_from_row

__all__ = ["SqliteReindexing", "delete_corpus", "delete_shadow", "read_corpus"]

_BESIDE = "SELECT id AS shadow_id, beside AS corpus_id, reindex_job AS job_id FROM corpora WHERE beside"

# The newest revision of each document that is not being deleted.
_NEWEST = """
    SELECT d.key, d.current, r.* FROM documents d
    JOIN revisions r ON r.corpus_id = d.corpus_id AND r.document_id = d.id AND r.number = d.newest
    WHERE d.corpus_id = :{corpus} AND d.hidden = 0 AND r.deletion = 0
"""
_HERE, _THERE = _NEWEST.format(corpus="corpus"), _NEWEST.format(corpus="beside")

_LACKING = f"""
    SELECT h.* FROM ({_HERE}) h LEFT JOIN ({_THERE}) t USING (document_id)
    WHERE t.fingerprint IS NULL OR t.fingerprint != h.fingerprint ORDER BY h.seq LIMIT :limit
"""

_TOO_MUCH = f"""
    SELECT t.document_id FROM ({_THERE}) t LEFT JOIN ({_HERE}) h USING (document_id)
    WHERE h.fingerprint IS NULL ORDER BY t.document_id LIMIT :limit
"""

# What is neither indexed there, nor as unreadable here as it is there.
_UNDONE = f"""
    SELECT 1 FROM ({_THERE}) t JOIN ({_HERE}) h USING (document_id)
    WHERE t.state != 'indexed' AND NOT (t.state IN ('failed', 'cancelled') AND h.current IS NULL) LIMIT 1
"""


class SqliteReindexing:
    """Fills `core.ports.record.Reindexing`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, corpus_id: str, settings: CorpusSettings) -> Reindex:
        return await self._database.write(lambda cx: _start(cx, read_corpus(cx, corpus_id), settings))

    async def list(self) -> Sequence[Reindex]:
        return await self._database.read(_list)

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        return await self._database.read(lambda cx: _compare(cx, corpus_id, limit))

    async def swap(self, corpus_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            dropped = _swap(cx, read_corpus(cx, corpus_id))
            return read_job(cx, dropped) if dropped else None

        return await self._database.write(work)

    async def cancel(self, corpus_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            dropped = delete_shadow(cx, corpus_id)
            return read_job(cx, dropped) if dropped else None

        return await self._database.write(work)


def read_corpus(cx: Connection, corpus_id: str) -> Corpus:
    row = cx.execute("SELECT * FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return corpus_from_row(row)


def _start(cx: Connection, corpus: Corpus, settings: CorpusSettings) -> Reindex:
    if _shadow_of(cx, corpus.id):
        raise Conflict(
            f"corpus {corpus.name!r} is being reindexed already; wait for that job, or cancel it and begin again"
        )
    shadow_id = new_id()
    job_id = insert_job(
        cx,
        Corpus(id=shadow_id, name=corpus.name, settings=settings, generation=0, created_at=corpus.created_at),
        JobKind.REINDEX,
        is_open=True,
    )
    cx.execute(
        "INSERT INTO corpora (id, settings, created_at, beside, reindex_job) VALUES (?, ?, ?, ?, ?)",
        (shadow_id, dump_settings(settings), now(), corpus.id, job_id),
    )
    return Reindex(corpus_id=corpus.id, shadow_id=shadow_id, job_id=job_id)


def _list(cx: Connection) -> list[Reindex]:
    return [Reindex(**dict(row)) for row in cx.execute(f"{_BESIDE} IS NOT NULL ORDER BY created_at, id")]


def _shadow_of(cx: Connection, corpus_id: str) -> Reindex | None:
    row = cx.execute(f"{_BESIDE} = ?", (corpus_id,)).fetchone()
    return None if row is None else Reindex(**dict(row))


def _compare(cx: Connection, corpus_id: str, limit: int) -> ReindexDifference:
    reindex = _shadow_of(cx, corpus_id)
    if reindex is None:
        return ReindexDifference(revisions=(), document_ids=())
    values = {"corpus": corpus_id, "beside": reindex.shadow_id, "limit": limit}
    lacking = cx.execute(_LACKING, values).fetchall()
    return ReindexDifference(
        revisions=tuple(
            NewRevision(
                key=row["key"],
                media_type=row["media_type"],
                content_hash=row["content_hash"],
                size=row["size"],
                fingerprint=row["fingerprint"],
                title=row["title"],
                metadata=json.loads(row["metadata"]),
            )
            for row in lacking
        ),
        document_ids=tuple(row["document_id"] for row in cx.execute(_TOO_MUCH, values)),
    )


def _swap(cx: Connection, corpus: Corpus) -> str | None:
    """Returns the id of the job that deletes the old corpus; None if the shadow corpus is not complete."""
    reindex = _shadow_of(cx, corpus.id)
    if reindex is None or _compare(cx, corpus.id, 1):
        return None
    if cx.execute(_UNDONE, {"corpus": corpus.id, "beside": reindex.shadow_id}).fetchone():
        return None
    dropped = delete_corpus(cx, corpus)
    cx.execute(
        "UPDATE corpora SET name = ?, beside = NULL, reindex_job = NULL WHERE id = ?", (corpus.name, reindex.shadow_id)
    )
    _close(cx, reindex.job_id, cancelled=False)
    return dropped


def delete_shadow(cx: Connection, corpus_id: str) -> str | None:
    """The id of the job that removes what was reindex; None where nothing was."""
    reindex = _shadow_of(cx, corpus_id)
    if reindex is None:
        return None
    row = cx.execute("SELECT * FROM corpora WHERE id = ?", (reindex.shadow_id,)).fetchone()
    dropped = delete_corpus(cx, corpus_from_row(row))
    _close(cx, reindex.job_id, cancelled=True)
    return dropped


def delete_corpus(cx: Connection, corpus: Corpus) -> str:
    """Frees the name, cancels all work, and queues the deletion. Returns the id of its job."""
    marks = ", ".join("?" * len(STOPPABLE))
    rows = cx.execute(
        f"SELECT seq FROM revisions WHERE corpus_id = ? AND state IN ({marks})", (corpus.id, *STOPPABLE)
    ).fetchall()
    seqs = [row["seq"] for row in rows]
    cx.executemany("UPDATE revisions SET epoch = epoch + 1 WHERE seq = ?", [(seq,) for seq in seqs])
    move(cx, seqs, RevisionState.CANCELLED, reason="the corpus was deleted")
    job_id = insert_job(cx, corpus, JobKind.DROP, is_open=False)
    count(cx, job_id, RevisionState.QUEUED.value, 1)
    cx.execute(
        "UPDATE corpora SET name = NULL, beside = NULL, reindex_job = NULL, drop_job = ? WHERE id = ?",
        (job_id, corpus.id),
    )
    return job_id


def _close(cx: Connection, job_id: str, *, cancelled: bool) -> None:
    cx.execute("UPDATE jobs SET open = 0, cancelled = max(cancelled, ?) WHERE id = ?", (int(cancelled), job_id))
    finish_if_done(cx, job_id)
