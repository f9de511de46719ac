"""Small originals in one SQLite file, compressed. All calls block."""

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from core.ids import content_hash
from stores.sqlite.connection import FAULTS, connect, empty_log, make_unavailable, run_script

_SCHEMA = Path(__file__).with_name("originals.sql")
_LEVEL = 6
_REMEDY = "put back a copy of the data folder, or restore a backup into a new one (`hopweave restore`)"
_FIND = "SELECT number FROM corpora WHERE id = ?"
_ONE = f"corpus = ({_FIND}) AND name = ?"


class SqliteOriginals:
    """Originals by corpus and name. Any number of processes read and write one file, which the first `put` creates.

    Deleted contents are overwritten in the file. The log (WAL), which may hold them, too, is emptied by the deletion,
    or by a later call of any process if another process reads meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._log_is_full = True
        """Also when the file is opened: a killed process may have left a full log."""

    def put(self, corpus_id: str, contents: Sequence[bytes]) -> None:
        """Stores contents in one transaction. Existing originals stay."""
        with self._open() as db:
            names = [bytes.fromhex(content_hash(content)) for content in contents]
            number = db.execute(_FIND, (corpus_id,)).fetchone()
            known = {
                name
                for name in names
                if number and db.execute(f"SELECT 1 FROM originals WHERE {_ONE}", (corpus_id, name)).fetchone()
            }
            rows = {name: _pack(content) for name, content in zip(names, contents, strict=True) if name not in known}
            if not rows:
                return
            with _transaction(db):
                db.execute("INSERT OR IGNORE INTO corpora (id) VALUES (?)", (corpus_id,))
                [number] = db.execute(_FIND, (corpus_id,)).fetchone()
                db.executemany(
                    "INSERT OR IGNORE INTO originals (corpus, name, deflate, content) VALUES (?, ?, ?, ?)",
                    [(number, name, *row) for name, row in rows.items()],
                )

    def get(self, corpus_id: str, name: str) -> bytes | None:
        """Returns the content; None if it is missing."""
        with self._open_existing() as db:
            query = f"SELECT deflate, content FROM originals WHERE {_ONE}"
            row = db and db.execute(query, (corpus_id, bytes.fromhex(name))).fetchone()
            if not row:
                return None
            return zlib.decompress(row[1]) if row[0] else bytes(row[1])

    def delete(self, corpus_id: str, names: Sequence[str]) -> None:
        with self._open_existing() as db:
            if db:
                with _transaction(db):
                    db.executemany(
                        f"DELETE FROM originals WHERE {_ONE}", [(corpus_id, bytes.fromhex(name)) for name in names]
                    )
                self._log_is_full = not empty_log(db)

    def delete_corpus(self, corpus_id: str) -> None:
        with self._open_existing() as db:
            if db:
                with _transaction(db):
                    db.execute(f"DELETE FROM originals WHERE corpus = ({_FIND})", (corpus_id,))
                    db.execute("DELETE FROM corpora WHERE id = ?", (corpus_id,))
                self._log_is_full = not empty_log(db)

    def names(self, corpus_id: str) -> list[str]:
        """Returns all names of a corpus, in no order."""
        with self._open_existing() as db:
            rows = db.execute(f"SELECT name FROM originals WHERE corpus = ({_FIND})", (corpus_id,)) if db else ()
            return [name.hex() for (name,) in rows]

    def close(self) -> None:
        """Closes the file. A later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _open_existing(self) -> Iterator[sqlite3.Connection | None]:
        """Yields the connection, or None if there is no file."""
        if self._connection is None and not self._path.exists():
            yield None
        else:
            with self._open() as db:
                yield db

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Yields the connection, for one thread at a time."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = connect(self._path, _create_tables)
                if self._log_is_full:
                    self._try_to_empty_log(self._connection)
                yield self._connection
            except FAULTS as error:
                made = make_unavailable(
                    f"the file of originals {self._path}",
                    error,
                    else_do="check permissions and free space",
                    remedy=_REMEDY,
                )
                raise error if made is None else made from error

    def _try_to_empty_log(self, db: sqlite3.Connection) -> None:
        """Leaves it to the next call if the disk is full or read-only: originals can still be read."""
        with suppress(sqlite3.OperationalError):
            self._log_is_full = not empty_log(db)


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _pack(content: bytes) -> tuple[int, bytes]:
    packed = zlib.compress(content, _LEVEL)
    return (1, packed) if len(packed) < len(content) else (0, content)


def _create_tables(db: sqlite3.Connection) -> None:
    """Creates the tables of a new file. Looks first, for creating takes the write lock."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'originals'").fetchone():
        run_script(db, _SCHEMA)
