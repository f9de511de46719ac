"""Corpora in SQLite."""

import sqlite3

from core.corpora import Corpus, CorpusCounts, CorpusSettings, check_corpus_name
from core.errors import Conflict, NotFound
from core.ids import new_id
from core.jobs import Job
from core.ports.record import Behind, Built
from stores.payloads import dump_settings
from stores.sqlite.database import Connection, Database, now
from stores.sqlite.record.built import all_built, behind, build, discard, drop, swap
from stores.sqlite.record.jobs import read_job
from stores.sqlite.record.rows import corpus_from_row

__all__ = ["SqliteCorpora"]


class SqliteCorpora:
    """Fills `core.ports.record.Corpora`."""

    def __init__(self, database: Database) -> None:
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
                raise Conflict(f"corpus {name!r} exists already; choose another name, or delete it first") from error
            return _by_id(cx, corpus_id)

        return await self._database.write(work)

    async def get(self, name: str) -> Corpus:
        return await self._database.read(lambda cx: _by_name(cx, name))

    async def by_id(self, corpus_id: str) -> Corpus:
        return await self._database.read(lambda cx: _by_id(cx, corpus_id))

    async def all(self) -> list[Corpus]:
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
                raise Conflict(f"corpus {new_name!r} exists already; choose another name") from error
            return _by_id(cx, corpus.id)

        return await self._database.write(work)

    async def drop(self, name: str) -> Job:
        def work(cx: Connection) -> Job:
            corpus = _by_name(cx, name)
            discard(cx, corpus.id)
            return read_job(cx, drop(cx, corpus))

        return await self._database.write(work)

    async def build_beside(self, corpus_id: str, settings: CorpusSettings) -> Built:
        return await self._database.write(lambda cx: build(cx, _by_id(cx, corpus_id), settings))

    async def built(self) -> list[Built]:
        return await self._database.read(all_built)

    async def behind(self, corpus_id: str, *, limit: int = 1000) -> Behind:
        return await self._database.read(lambda cx: behind(cx, corpus_id, limit))

    async def swap(self, corpus_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            dropped = swap(cx, _by_id(cx, corpus_id))
            return read_job(cx, dropped) if dropped else None

        return await self._database.write(work)

    async def discard_built(self, corpus_id: str) -> Job | None:
        def work(cx: Connection) -> Job | None:
            dropped = discard(cx, corpus_id)
            return read_job(cx, dropped) if dropped else None

        return await self._database.write(work)

    async def counts(self, corpus_id: str) -> CorpusCounts:
        def work(cx: Connection) -> CorpusCounts:
            row = cx.execute(
                """
                WITH visible AS (
                    SELECT c.id FROM chunks c JOIN documents d ON d.corpus_id = c.corpus_id AND d.id = c.document_id
                    WHERE c.corpus_id = :corpus AND d.hidden = 0
                ), named AS (
                    SELECT m.entity_id, m.count FROM mentions m JOIN visible v ON v.id = m.chunk_id
                    WHERE m.corpus_id = :corpus
                )
                SELECT
                    (SELECT count(*) FROM documents WHERE corpus_id = :corpus AND hidden = 0 AND current IS NOT NULL)
                        AS documents,
                    (SELECT count(*) FROM visible) AS chunks,
                    (SELECT count(DISTINCT entity_id) FROM named) AS entities,
                    (SELECT count(*) FROM facts f JOIN visible v ON v.id = f.chunk_id WHERE f.corpus_id = :corpus)
                        AS facts,
                    (SELECT coalesce(sum(count), 0) FROM named) AS mentions
                """,
                {"corpus": corpus_id},
            ).fetchone()
            return CorpusCounts(**dict(row))

        return await self._database.read(work)


def _by_name(cx: Connection, name: str) -> Corpus:
    row = cx.execute("SELECT * FROM corpora WHERE name = ?", (name,)).fetchone()
    if row is None:
        known = [
            r["name"] for r in cx.execute("SELECT name FROM corpora WHERE name IS NOT NULL ORDER BY name LIMIT 20")
        ]
        there = f"there are: {', '.join(known)}" if known else "there is none yet"
        raise NotFound(f"there is no corpus {name!r}; {there}")
    return corpus_from_row(row)


def _by_id(cx: Connection, corpus_id: str) -> Corpus:
    row = cx.execute("SELECT * FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return corpus_from_row(row)
