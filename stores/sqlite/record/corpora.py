"""The ports of corpora and of reindexing in SQLite: shadow corpora, the swap, and the deletion of corpora."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from core.corpora import Corpus, CorpusCounts, CorpusSettings, check_corpus_name
from core.documents import RevisionState
from core.ids import new_id
from core.jobs import Job, JobKind
from core.ports.record import Reindex, ReindexDifference
from core.record_policy.documents import NO_DIFFERENCE, already_reindexing, is_complete, make_shadow
from core.record_policy.errors import corpus_exists, corpus_missing, corpus_name_missing, name_taken
from core.record_policy.submissions import CORPUS_DELETED, STOPPABLE
from stores.record_rows import dump_settings, load_new_revision
from stores.sqlite.database import Connection, SqliteDatabase, now
from stores.sqlite.questions import move_questions
from stores.sqlite.record.certificates import insert_corpus, move_certificates
from stores.sqlite.record.graph import copy_merges
from stores.sqlite.record.jobs import close_job, insert_job, read_job
from stores.sqlite.record.resolution import copy_resolution, copy_schema
from stores.sqlite.record.revisions import add_count, cancel
from stores.sqlite.rows import OF_CORPUS, corpus_from_row, marks

_COUNTS = """
    SELECT n.documents, n.chunks, n.facts, n.mentions, n.entities - (
        SELECT count(DISTINCT f.entity) FROM document_rows d
        CROSS JOIN chunk_rows c ON c.document = d.number
        CROSS JOIN mention_rows m ON m.chunk = c.number
        CROSS JOIN form_rows f ON f.number = m.form
        WHERE d.corpus = n.corpus AND d.hidden = 1 AND NOT EXISTS (
            SELECT 1 FROM form_rows g
            CROSS JOIN mention_rows o ON o.form = g.number
            CROSS JOIN chunk_rows v ON v.number = o.chunk
            CROSS JOIN document_rows s ON s.number = v.document
            WHERE g.entity = f.entity AND s.hidden = 0
        )
    ) AS entities
    FROM corpus_numbers k JOIN corpus_counts n ON n.corpus = k.number WHERE k.id = :corpus
"""
"""The counts without entities that only documents which are being deleted mention."""

_NOTHING = CorpusCounts(documents=0, chunks=0, entities=0, facts=0, mentions=0)


class SqliteCorpora:
    """Implements `core.ports.record.Corpora`."""

    def __init__(self, database: SqliteDatabase, submitted_by: str | None = None) -> None:
        self._database = database
        self._submitted_by = submitted_by

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        check_corpus_name(name)

        def work(cx: Connection) -> Corpus:
            corpus_id = new_id()
            try:
                cx.execute(
                    "INSERT INTO corpora (id, name, settings, created_at) VALUES (?, ?, ?, ?)",
                    (corpus_id, name, dump_settings(settings), now()),
                )
            except sqlite3.IntegrityError as error:
                raise corpus_exists(name) from error
            return _read_corpus(cx, corpus_id)

        return await self._database.write(work)

    async def get(self, name: str) -> Corpus:
        return await self._database.read(lambda cx: _by_name(cx, name))

    async def get_by_id(self, corpus_id: str) -> Corpus:
        return await self._database.read(lambda cx: _read_corpus(cx, corpus_id))

    async def list(self) -> Sequence[Corpus]:
        def work(cx: Connection) -> list[Corpus]:
            rows = cx.execute("SELECT * FROM corpora WHERE name IS NOT NULL ORDER BY name").fetchall()
            return [corpus_from_row(row) for row in rows]

        return await self._database.read(work)

    async def rename(self, name: str, new_name: str) -> Corpus:
        check_corpus_name(new_name)

        def work(cx: Connection) -> Corpus:
            corpus = _by_name(cx, name)
            try:
                cx.execute("UPDATE corpora SET name = ? WHERE id = ?", (new_name, corpus.id))
            except sqlite3.IntegrityError as error:
                raise name_taken(new_name) from error
            return _read_corpus(cx, corpus.id)

        return await self._database.write(work)

    async def delete(self, name: str) -> Job:
        def work(cx: Connection) -> Job:
            corpus = _by_name(cx, name)
            _delete_shadow(cx, corpus)
            job = _delete_corpus(cx, corpus, self._submitted_by)
            insert_corpus(cx, corpus, job, self._submitted_by)
            return read_job(cx, job)

        return await self._database.write(work)

    async def count(self, corpus_id: str) -> CorpusCounts:
        def work(cx: Connection) -> CorpusCounts:
            row = cx.execute(_COUNTS, {"corpus": corpus_id}).fetchone()
            return CorpusCounts(**dict(row)) if row else _NOTHING

        return await self._database.read(work)


def _by_name(cx: Connection, name: str) -> Corpus:
    row = cx.execute("SELECT * FROM corpora WHERE name = ?", (name,)).fetchone()
    if row is None:
        known = [
            r["name"] for r in cx.execute("SELECT name FROM corpora WHERE name IS NOT NULL ORDER BY name LIMIT 20")
        ]
        raise corpus_name_missing(name, known)
    return corpus_from_row(row)


_REINDEX = "SELECT id AS shadow_id, beside AS corpus_id, reindex_job AS job_id FROM corpora WHERE beside"

_NEWEST = """
    SELECT d.key, d.current, d.raw_id, r.* FROM documents d
    JOIN revisions r ON r.document = d.number AND r.number = d.newest
    WHERE d.corpus_id = :{corpus} AND d.hidden = 0 AND r.deletion = 0
"""
"""The newest revision of each document that is not being deleted."""

_CURRENT, _SHADOW = _NEWEST.format(corpus="corpus"), _NEWEST.format(corpus="shadow")

_LACKING = f"""
    SELECT c.* FROM ({_CURRENT}) c LEFT JOIN ({_SHADOW}) s USING (raw_id)
    WHERE s.fingerprint IS NULL OR s.fingerprint != c.fingerprint ORDER BY c.seq LIMIT :limit
"""

_SURPLUS = f"""
    SELECT s.document_id FROM ({_SHADOW}) s LEFT JOIN ({_CURRENT}) c USING (raw_id)
    WHERE c.fingerprint IS NULL ORDER BY s.document_id LIMIT :limit
"""

_UNFINISHED = f"""
    SELECT 1 FROM ({_SHADOW}) s JOIN ({_CURRENT}) c USING (raw_id)
    WHERE s.state != 'indexed' AND NOT (s.state IN ('failed', 'cancelled') AND c.current IS NULL) LIMIT 1
"""
"""Documents of the shadow corpus that are neither indexed, nor unreadable in both."""

_DOCUMENTS = f"SELECT number FROM document_rows WHERE {OF_CORPUS}"

_DISABLE = """
    UPDATE document_rows SET disabled = 1 WHERE corpus = (SELECT number FROM corpus_numbers WHERE id = :shadow)
    AND id IN (SELECT raw_id FROM documents WHERE corpus_id = :corpus AND disabled = 1)
"""
_COPY_ACCESS = """
    UPDATE document_rows AS d SET access = o.access FROM documents o
    WHERE d.corpus = (SELECT number FROM corpus_numbers WHERE id = :shadow) AND o.corpus_id = :corpus
    AND o.raw_id = d.id AND o.access IS NOT d.access
"""
_CLEAR_ACCESS = """
    UPDATE revision_rows SET access = NULL
    WHERE corpus = (SELECT number FROM corpus_numbers WHERE id = :shadow) AND access IS NOT NULL
"""
"""What a document of the corpus has is exact: a failed revision of the shadow corpus may have named more."""


class SqliteReindexing:
    """Implements `core.ports.record.Reindexing`."""

    def __init__(self, database: SqliteDatabase, submitted_by: str | None = None) -> None:
        self._database = database
        self._submitted_by = submitted_by

    async def start(self, corpus_id: str, settings: CorpusSettings) -> Reindex:
        return await self._database.write(
            lambda cx: _start(cx, _read_corpus(cx, corpus_id), settings, self._submitted_by)
        )

    async def list(self) -> Sequence[Reindex]:
        return await self._database.read(_list)

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        return await self._database.read(lambda cx: _compare(cx, corpus_id, limit))

    async def swap(self, corpus_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            job_id = _swap(cx, _read_corpus(cx, corpus_id))
            return read_job(cx, job_id) if job_id else None

        return await self._database.write(work)

    async def cancel(self, corpus_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            job_id = _delete_shadow(cx, _read_corpus(cx, corpus_id))
            return read_job(cx, job_id) if job_id else None

        return await self._database.write(work)


def _read_corpus(cx: Connection, corpus_id: str) -> Corpus:
    row = cx.execute("SELECT * FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise corpus_missing(corpus_id)
    return corpus_from_row(row)


def _start(cx: Connection, corpus: Corpus, settings: CorpusSettings, submitted_by: str | None) -> Reindex:
    shadow = make_shadow(corpus, settings)
    if _find(cx, corpus.id):
        raise already_reindexing(corpus.name)
    job_id = insert_job(cx, shadow, JobKind.REINDEX, is_open=True, submitted_by=submitted_by)
    cx.execute(
        "INSERT INTO corpora (id, settings, created_at, beside, reindex_job) VALUES (?, ?, ?, ?, ?)",
        (shadow.id, dump_settings(settings), now(), corpus.id, job_id),
    )
    copy_schema(cx, corpus.id, shadow.id)
    return Reindex(corpus_id=corpus.id, shadow_id=shadow.id, job_id=job_id)


def _list(cx: Connection) -> list[Reindex]:
    return [Reindex(**dict(row)) for row in cx.execute(f"{_REINDEX} IS NOT NULL ORDER BY created_at, id")]


def _find(cx: Connection, corpus_id: str) -> Reindex | None:
    row = cx.execute(f"{_REINDEX} = ?", (corpus_id,)).fetchone()
    return None if row is None else Reindex(**dict(row))


def _compare(cx: Connection, corpus_id: str, limit: int) -> ReindexDifference:
    reindex = _find(cx, corpus_id)
    if reindex is None:
        return NO_DIFFERENCE
    values = {"corpus": corpus_id, "shadow": reindex.shadow_id, "limit": limit}
    return ReindexDifference(
        revisions=tuple(load_new_revision(row.__getitem__) for row in cx.execute(_LACKING, values)),
        document_ids=tuple(row["document_id"] for row in cx.execute(_SURPLUS, values)),
    )


def _swap(cx: Connection, corpus: Corpus) -> str | None:
    """Returns the id of the job that deletes the old corpus; None if the shadow corpus is not complete."""
    reindex = _find(cx, corpus.id)
    if reindex is None:
        return None
    values = {"corpus": corpus.id, "shadow": reindex.shadow_id}
    has_unfinished = cx.execute(_UNFINISHED, values).fetchone() is not None
    if not is_complete(_compare(cx, corpus.id, 1), has_unfinished=has_unfinished):
        return None
    copy_merges(cx, corpus.id, reindex.shadow_id)
    copy_resolution(cx, corpus.id, reindex.shadow_id)
    copy_schema(cx, corpus.id, reindex.shadow_id)
    cx.execute(_DISABLE, values)
    cx.execute(_COPY_ACCESS, values)
    cx.execute(_CLEAR_ACCESS, values)
    move_questions(cx, corpus.id, reindex.shadow_id)
    move_certificates(cx, corpus.id, reindex.shadow_id)
    deletion = _delete_corpus(cx, corpus)
    cx.execute(
        "UPDATE corpora SET name = ?, beside = NULL, reindex_job = NULL WHERE id = ?", (corpus.name, reindex.shadow_id)
    )
    close_job(cx, reindex.job_id)
    return deletion


def _delete_shadow(cx: Connection, corpus: Corpus) -> str | None:
    """Returns the id of the job that deletes the shadow corpus; None if there is none."""
    reindex = _find(cx, corpus.id)
    if reindex is None:
        return None
    deletion = _delete_corpus(cx, replace(_read_corpus(cx, reindex.shadow_id), name=corpus.name))
    close_job(cx, reindex.job_id, cancelled=True)
    return deletion


def _delete_corpus(cx: Connection, corpus: Corpus, submitted_by: str | None = None) -> str:
    """Frees the name, cancels all work, and queues the deletion. Returns the id of its job."""
    rows = cx.execute(
        f"SELECT seq FROM revision_rows WHERE document IN ({_DOCUMENTS}) AND state IN ({marks(STOPPABLE)})",
        (corpus.id, *STOPPABLE),
    ).fetchall()
    cancel(cx, [row["seq"] for row in rows], CORPUS_DELETED)
    job_id = insert_job(cx, corpus, JobKind.DROP, is_open=False, submitted_by=submitted_by)
    add_count(cx, job_id, RevisionState.QUEUED.value, 1)
    cx.execute(
        "UPDATE corpora SET name = NULL, beside = NULL, reindex_job = NULL, drop_job = ? WHERE id = ?",
        (job_id, corpus.id),
    )
    return job_id
