"""Rows put aside on disk while a file is read, to be found again by what they belong to."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from core.errors import Unavailable

__all__ = ["Spool", "Spooled"]

_PRAGMAS = ("journal_mode = off", "synchronous = off", "cache_size = -65536", "temp_store = file")
_LISTED = "key IN (SELECT value FROM json_each(?))"


class Spooled(NamedTuple):
    """A row: `key` is what it is found by, `id` a second name, `line` where it stood."""

    key: str
    id: str
    line: int
    body: bytes


class Spool:
    """Rows in named heaps, in a nameless file of the folder for temporary files, which ends with the process.

    Blocking, and for one thread at a time. `seal` comes between the last `add` and the first look.
    """

    def __init__(self) -> None:
        with _translated():
            self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._db.execute(f"PRAGMA {pragma}")
            self._db.execute("CREATE TABLE rows (heap TEXT NOT NULL, key TEXT, id TEXT, line INTEGER, body BLOB)")
            self._db.execute("BEGIN")

    def add(self, heap: str, rows: Iterable[Spooled]) -> None:
        with _translated():
            self._db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", ((heap, *row) for row in rows))

    def seal(self) -> None:
        """An index over what is there: made once, it costs a fifth of one that is kept while rows come."""
        with _translated():
            self._db.execute("COMMIT")
            self._db.execute("CREATE INDEX by_key ON rows (heap, key, line)")
            self._db.execute("BEGIN")

    def find(self, heap: str, keys: Collection[str]) -> list[Spooled]:
        """The rows under these keys, as they stood in the file."""
        with _translated():
            query = f"SELECT key, id, line, body FROM rows WHERE heap = ? AND {_LISTED} ORDER BY line"
            return [Spooled(*row) for row in self._db.execute(query, (heap, json.dumps(list(keys))))]

    def held(self, heap: str, keys: Collection[str]) -> set[str]:
        """Those of the keys that have a row."""
        with _translated():
            query = f"SELECT DISTINCT key FROM rows WHERE heap = ? AND {_LISTED}"
            return {key for (key,) in self._db.execute(query, (heap, json.dumps(list(keys))))}

    def keys(self, heap: str, *, after: str, limit: int) -> list[str]:
        """Up to `limit` keys beyond `after`, ascending, each once."""
        with _translated():
            query = "SELECT DISTINCT key FROM rows WHERE heap = ? AND key > ? ORDER BY key LIMIT ?"
            return [key for (key,) in self._db.execute(query, (heap, after, limit))]

    def count(self, heap: str) -> int:
        with _translated():
            return int(self._db.execute("SELECT count(*) FROM rows WHERE heap = ?", (heap,)).fetchone()[0])

    def lacking(self, heap: str, other: str) -> int:
        """How many second names of a heap are no key of the other."""
        with _translated():
            query = """
                SELECT count(DISTINCT id) FROM rows r WHERE heap = ?
                AND NOT EXISTS (SELECT 1 FROM rows o WHERE o.heap = ? AND o.key = r.id)
            """
            return int(self._db.execute(query, (heap, other)).fetchone()[0])

    def repeated(self, heap: str) -> tuple[str, int] | None:
        """A key that several rows have, and the line of the second."""
        with _translated():
            query = """
                SELECT key, max(line) FROM rows WHERE heap = ? GROUP BY key HAVING count(*) > 1 ORDER BY 2 LIMIT 1
            """
            found = self._db.execute(query, (heap,)).fetchone()
            return None if found is None else (found[0], found[1])

    def close(self) -> None:
        self._db.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise Unavailable(
            f"the folder for temporary files cannot be used: {error}; it takes up to twice what the file holds, "
            "uncompressed, so name one with room in TMPDIR (or SQLITE_TMPDIR)"
        ) from error
