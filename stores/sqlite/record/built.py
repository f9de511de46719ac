"""Corpora that are built beside others, the swap, and the end of what is not needed any more."""

import json

from core.corpora import Corpus, CorpusSettings
from core.documents import RevisionState
from core.errors import Conflict
from core.ids import new_id
from core.jobs import JobKind
from core.ports.record import Behind, Built, NewRevision
from stores.payloads import dump_settings
from stores.sqlite.database import Connection, now
from stores.sqlite.record.jobs import insert_job
from stores.sqlite.record.rows import corpus_from_row
from stores.sqlite.record.states import STOPPABLE, count, finish_if_done, move

__all__ = ["all_built", "behind", "build", "discard", "drop", "swap"]

_BESIDE = "SELECT id AS beside_id, beside AS corpus_id, reindex_job AS job_id FROM corpora WHERE beside"

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


def build(cx: Connection, corpus: Corpus, settings: CorpusSettings) -> Built:
    if _built(cx, corpus.id):
        raise Conflict(
            f"corpus {corpus.name!r} is being reindexed already; wait for that job, or cancel it and begin again"
        )
    beside_id = new_id()
    job_id = insert_job(
        cx,
        Corpus(id=beside_id, name=corpus.name, settings=settings, generation=0, created_at=corpus.created_at),
        JobKind.REINDEX,
        is_open=True,
    )
    cx.execute(
        "INSERT INTO corpora (id, settings, created_at, beside, reindex_job) VALUES (?, ?, ?, ?, ?)",
        (beside_id, dump_settings(settings), now(), corpus.id, job_id),
    )
    return Built(corpus_id=corpus.id, beside_id=beside_id, job_id=job_id)


def all_built(cx: Connection) -> list[Built]:
    return [Built(**dict(row)) for row in cx.execute(f"{_BESIDE} IS NOT NULL ORDER BY created_at, id")]


def _built(cx: Connection, corpus_id: str) -> Built | None:
    row = cx.execute(f"{_BESIDE} = ?", (corpus_id,)).fetchone()
    return None if row is None else Built(**dict(row))


def behind(cx: Connection, corpus_id: str, limit: int) -> Behind:
    built = _built(cx, corpus_id)
    if built is None:
        return Behind(revisions=(), document_ids=())
    values = {"corpus": corpus_id, "beside": built.beside_id, "limit": limit}
    lacking = cx.execute(_LACKING, values).fetchall()
    return Behind(
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


def swap(cx: Connection, corpus: Corpus) -> str | None:
    """The id of the job that removes the old corpus; None where the new one is not whole."""
    built = _built(cx, corpus.id)
    if built is None or behind(cx, corpus.id, 1):
        return None
    if cx.execute(_UNDONE, {"corpus": corpus.id, "beside": built.beside_id}).fetchone():
        return None
    dropped = drop(cx, corpus)
    cx.execute(
        "UPDATE corpora SET name = ?, beside = NULL, reindex_job = NULL WHERE id = ?", (corpus.name, built.beside_id)
    )
    _close(cx, built.job_id, cancelled=False)
    return dropped


def discard(cx: Connection, corpus_id: str) -> str | None:
    """The id of the job that removes what was built; None where nothing was."""
    built = _built(cx, corpus_id)
    if built is None:
        return None
    row = cx.execute("SELECT * FROM corpora WHERE id = ?", (built.beside_id,)).fetchone()
    dropped = drop(cx, corpus_from_row(row))
    _close(cx, built.job_id, cancelled=True)
    return dropped


def drop(cx: Connection, corpus: Corpus) -> str:
    """Take the name away, cancel all work, and queue the removal; returns its job."""
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
