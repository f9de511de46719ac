"""The port of the model cache in SQLite: answers of language models in a file of their own."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Collection
from pathlib import Path
from threading import Lock
from typing import TypeVar

from core.errors import Unavailable
from core.execution.threads import compute
from core.ports.chat import CachedAnswer
from stores.sqlite.connection import connect, run_script

T = TypeVar("T")

_SCHEMA = Path(__file__).with_name("model_cache.sql")
_LISTED_SECONDS = 3600.0
"""Seconds for which a deleted chunk is listed. If it comes back, no answer about it is cached meanwhile."""
_KEYS = "SELECT key FROM answer_chunks WHERE corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"


class SqliteModelCache:
    """Implements `core.ports.chat.ModelCache`. Several processes share one file, which the first call creates.

    There is one connection behind a lock: a statement takes microseconds, and a model call seconds.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._db: sqlite3.Connection | None = None

    async def get(self, key: str) -> str | None:
        def work(db: sqlite3.Connection) -> str | None:
            found = db.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return str(found[0]) if found else None

        return await self._run(work, "BEGIN")

    async def put(self, entry: CachedAnswer, generation: int) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            if entry.corpus_id:
                followed = _followed(db, entry.corpus_id)
                if followed is None or followed > generation:
                    return False
                if _names_deleted(db, entry):
                    return True  # not stored; the caller need not look at the record again
            _delete_answers(db, [entry.key])
            db.execute("INSERT INTO answers VALUES (?, ?, ?)", (entry.key, entry.corpus_id, entry.answer))
            chunks = [(entry.corpus_id, chunk, entry.key) for chunk in entry.chunk_ids]
            db.executemany("INSERT INTO answer_chunks VALUES (?, ?, ?)", chunks)
            return True

        return await self._run(work)

    async def followed(self, corpus_id: str) -> int | None:
        return await self._run(lambda db: _followed(db, corpus_id), "BEGIN")

    async def follow(self, corpus_id: str, generation: int, removed: Collection[str] | None) -> None:
        def work(db: sqlite3.Connection) -> None:
            if removed is None:
                _delete_corpus(db, corpus_id)
            else:
                found = db.execute(_KEYS, (corpus_id, json.dumps(list(removed))))
                _delete_answers(db, [key for (key,) in found])
                now = time.time()
                db.execute("DELETE FROM gone WHERE at < ?", (now - _LISTED_SECONDS,))
                db.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", [(corpus_id, id, now) for id in removed])
            db.execute(
                "INSERT INTO followed VALUES (?, ?) "
                "ON CONFLICT (corpus_id) DO UPDATE SET generation = max(generation, excluded.generation)",
                (corpus_id, generation),
            )

        await self._run(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        await self._run(lambda db: _delete_corpus(db, corpus_id))

    async def close(self) -> None:
        """Closes the connection. A later call opens it again."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db = None

    async def _run(self, work: Callable[[sqlite3.Connection], T], begin: str = "BEGIN IMMEDIATE") -> T:
        return await compute(self._transact, work, begin)

    def _transact(self, work: Callable[[sqlite3.Connection], T], begin: str) -> T:
        with self._lock:
            try:
                if self._db is None:
                    self._db = connect(self._path, _prepare)
                with self._db:
                    self._db.execute(begin)
                    return work(self._db)
            except (sqlite3.DatabaseError, OSError) as error:
                raise Unavailable(
                    f"the model cache {self._path} cannot be used ({error}): check the disk, delete the file, "
                    "or set HOPWEAVE_LLM__CACHE=false"
                ) from error


def _prepare(db: sqlite3.Connection) -> None:
    run_script(db, _SCHEMA)


def _followed(db: sqlite3.Connection, corpus_id: str) -> int | None:
    found = db.execute("SELECT generation FROM followed WHERE corpus_id = ?", (corpus_id,)).fetchone()
    return int(found[0]) if found else None


def _names_deleted(db: sqlite3.Connection, entry: CachedAnswer) -> bool:
    """Whether the question showed a chunk that was deleted since, perhaps before this call began."""
    values = (entry.corpus_id, json.dumps(list(entry.chunk_ids)))
    listed = "SELECT 1 FROM gone WHERE corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"
    return db.execute(listed, values).fetchone() is not None


def _delete_answers(db: sqlite3.Connection, keys: list[str]) -> None:
    listed = (json.dumps(keys),)
    db.execute("DELETE FROM answers WHERE key IN (SELECT value FROM json_each(?))", listed)
    db.execute("DELETE FROM answer_chunks WHERE key IN (SELECT value FROM json_each(?))", listed)


def _delete_corpus(db: sqlite3.Connection, corpus_id: str) -> None:
    for table in ("answers", "answer_chunks", "followed", "gone"):
        db.execute(f"DELETE FROM {table} WHERE corpus_id = ?", (corpus_id,))
