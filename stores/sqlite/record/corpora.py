"""The port of corpora in SQLite."""

import sqlite3
from collections.abc import Sequence

from core.corpora import Corpus, CorpusCounts, CorpusSettings, check_corpus_name
from core.ids import new_id
from core.jobs import Job
from core.record_policy.errors import corpus_exists, corpus_name_missing, name_taken
from stores.payloads import dump_settings
from stores.sqlite.database import Connection, SqliteDatabase, now
from stores.sqlite.record.jobs import read_job
from stores.sqlite.record.reindexing import delete_corpus, delete_shadow, read_corpus
from stores.sqlite.rows import corpus_from_row

__all__ = ["SqliteCorpora"]

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

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

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
            return read_corpus(cx, corpus_id)

        return await self._database.write(work)

    async def get(self, name: str) -> Corpus:
        return await self._database.read(lambda cx: _by_name(cx, name))

    async def get_by_id(self, corpus_id: str) -> Corpus:
        return await self._database.read(lambda cx: read_corpus(cx, corpus_id))

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
            return read_corpus(cx, corpus.id)

        return await self._database.write(work)

    async def delete(self, name: str, *, submitted_by: str | None = None) -> Job:
        def work(cx: Connection) -> Job:
            corpus = _by_name(cx, name)
            delete_shadow(cx, corpus)
            return read_job(cx, delete_corpus(cx, corpus, submitted_by))

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
