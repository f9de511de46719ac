"""Answers of language models in a SQLite file of their own."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Collection
from pathlib import Path
from threading import Lock
from typing import TypeVar

from core.errors import Unavailable
from core.ports.model_cache import CachedAnswer

__all__ = ["SqliteModelCache"]

T = TypeVar("T")

_SCHEMA = Path(__file__).with_name("model_cache.sql")
_BUSY_SECONDS = 30.0
_LONGEST_QUESTION = 3600.0
"""Seconds for which a chunk that went is remembered; one that comes back is not cached about for so long."""
_NAMING = "SELECT key FROM answer_chunks WHERE corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"


class SqliteModelCache:
    """Fills `core.ports.model_cache.ModelCache`. Several processes share one file; the file is made by the first call.

    One connection behind a lock: a statement takes microseconds, and what it saves takes seconds.
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
                if _any_gone(db, entry):
                    return True  # not kept, and there is nothing that the caller could look at again
            _delete(db, [entry.key])
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
                _forget(db, corpus_id)
            else:
                found = db.execute(_NAMING, (corpus_id, json.dumps(list(removed))))
                _delete(db, [key for (key,) in found])
                now = time.time()
                db.execute("DELETE FROM gone WHERE at < ?", (now - _LONGEST_QUESTION,))
                db.executemany("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", [(corpus_id, id, now) for id in removed])
            db.execute(
                "INSERT INTO followed VALUES (?, ?) "
                "ON CONFLICT (corpus_id) DO UPDATE SET generation = max(generation, excluded.generation)",
                (corpus_id, generation),
            )

        await self._run(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        await self._run(lambda db: _forget(db, corpus_id))

    async def close(self) -> None:
        """Close the connection; a later call opens it again."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
            self._db = None

    async def _run(self, work: Callable[[sqlite3.Connection], T], begin: str = "BEGIN IMMEDIATE") -> T:
        return await asyncio.to_thread(self._transact, work, begin)

    def _transact(self, work: Callable[[sqlite3.Connection], T], begin: str) -> T:
        with self._lock:
            try:
                if self._db is None:
                    self._db = _open(self._path)
                with self._db:
                    self._db.execute(begin)
                    return work(self._db)
            except (sqlite3.DatabaseError, OSError) as error:
                raise Unavailable(
                    f"the model cache {self._path} cannot be used ({error}): check the disk, delete the file, "
                    "or set HOPWEAVE_LLM__CACHE=false"
                ) from error


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _use_wal(db)
        db.execute("PRAGMA synchronous = normal")
        db.execute("PRAGMA secure_delete = on")  # what is forgotten is not left in free pages
        db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA.read_text(encoding='utf-8')}; COMMIT")
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _use_wal(db: sqlite3.Connection) -> None:
    """Turning a new file to WAL does not wait for others who do so at once, so it is tried again."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _followed(db: sqlite3.Connection, corpus_id: str) -> int | None:
    found = db.execute("SELECT generation FROM followed WHERE corpus_id = ?", (corpus_id,)).fetchone()
    return int(found[0]) if found else None


def _any_gone(db: sqlite3.Connection, entry: CachedAnswer) -> bool:
    """Whether its question was shown a chunk that has gone since, perhaps before this call was begun."""
    named = (entry.corpus_id, json.dumps(list(entry.chunk_ids)))
    listed = "SELECT 1 FROM gone WHERE corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"
    return db.execute(listed, named).fetchone() is not None


def _delete(db: sqlite3.Connection, keys: list[str]) -> None:
    listed = (json.dumps(keys),)
    db.execute("DELETE FROM answers WHERE key IN (SELECT value FROM json_each(?))", listed)
    db.execute("DELETE FROM answer_chunks WHERE key IN (SELECT value FROM json_each(?))", listed)


def _forget(db: sqlite3.Connection, corpus_id: str) -> None:
    for table in ("answers", "answer_chunks", "followed", "gone"):
        db.execute(f"DELETE FROM {table} WHERE corpus_id = ?", (corpus_id,))
