"""Rows that are stored on disk while a backup is read, and are found again by their keys."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from core.errors import Unavailable

_PRAGMAS = ("journal_mode = off", "synchronous = off", "cache_size = -65536", "temp_store = file")
_LISTED = "key IN (SELECT value FROM json_each(?))"


class SpooledRow(NamedTuple):
    """A row: `key` finds it, `id` is a second name, `line` is its line in the file."""

    key: str
    id: str
    line: int
    body: bytes


class Spool:
    """Rows in named heaps, in an unnamed file in the folder for temporary files, which is deleted with the process.

    Blocking, and for one thread at a time. `seal` must be called between the last `add` and the first query.
    """

    def __init__(self) -> None:
        with _translate_errors():
            self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            for pragma in _PRAGMAS:
                self._db.execute(f"PRAGMA {pragma}")
            self._db.execute("CREATE TABLE rows (heap TEXT NOT NULL, key TEXT, id TEXT, line INTEGER, body BLOB)")
            self._db.execute("BEGIN")

    def add(self, heap: str, rows: Iterable[SpooledRow]) -> None:
        with _translate_errors():
            self._db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", ((heap, *row) for row in rows))

    def seal(self) -> None:
        """Creates the index. Creating it once costs a fifth of updating it with each row."""
        with _translate_errors():
            self._db.execute("COMMIT")
            self._db.execute("CREATE INDEX by_key ON rows (heap, key, line)")
            self._db.execute("BEGIN")

    def find(self, heap: str, keys: Collection[str]) -> list[SpooledRow]:
        """Returns the rows with these keys, in the order of the file."""
        with _translate_errors():
            query = f"SELECT key, id, line, body FROM rows WHERE heap = ? AND {_LISTED} ORDER BY line"
            return [SpooledRow(*row) for row in self._db.execute(query, (heap, json.dumps(list(keys))))]

    def find_keys(self, heap: str, keys: Collection[str]) -> set[str]:
        """Returns the keys that have a row."""
        with _translate_errors():
            query = f"SELECT DISTINCT key FROM rows WHERE heap = ? AND {_LISTED}"
            return {key for (key,) in self._db.execute(query, (heap, json.dumps(list(keys))))}

    def list_keys(self, heap: str, *, after: str, limit: int) -> list[str]:
        """Returns up to `limit` keys after `after`, ascending, each once."""
        with _translate_errors():
            query = "SELECT DISTINCT key FROM rows WHERE heap = ? AND key > ? ORDER BY key LIMIT ?"
            return [key for (key,) in self._db.execute(query, (heap, after, limit))]

    def count(self, heap: str) -> int:
        with _translate_errors():
            return int(self._db.execute("SELECT count(*) FROM rows WHERE heap = ?", (heap,)).fetchone()[0])

    def count_missing(self, heap: str, other: str) -> int:
        """Returns how many second names of a heap are not keys of the other heap."""
        with _translate_errors():
            query = """
                SELECT count(DISTINCT id) FROM rows r WHERE heap = ?
                AND NOT EXISTS (SELECT 1 FROM rows o WHERE o.heap = ? AND o.key = r.id)
            """
            return int(self._db.execute(query, (heap, other)).fetchone()[0])

    def find_repeated(self, heap: str, *, by_id: bool = False) -> tuple[str, int] | None:
        """Returns a key that several rows have, and the line of the last of them; None if there is none.

        With `by_id`, rows are repeated only if they have the same second name, too.
        """
        with _translate_errors():
            query = f"""
                SELECT key, max(line) FROM rows WHERE heap = ? GROUP BY {"key, id" if by_id else "key"}
                HAVING count(*) > 1 ORDER BY 2 LIMIT 1
            """
            found = self._db.execute(query, (heap,)).fetchone()
            return None if found is None else (found[0], found[1])

    def close(self) -> None:
        self._db.close()


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise Unavailable(
            f"the folder for temporary files cannot be used: {error}; it takes up to twice what the file holds, "
            "uncompressed, so name one with room in TMPDIR (or SQLITE_TMPDIR)"
        ) from error
