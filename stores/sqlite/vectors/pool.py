"""Connections to the file of vectors: transactions of any thread, and the version that changes with each commit."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from core.errors import Unavailable
from stores.sqlite.connection import connect, empty_log, run_script
from stores.sqlite.damage import is_damage

__all__ = ["ConnectionPool"]

_SCHEMA = Path(__file__).with_name("vectors.sql")
_PAGE_SIZE = 16384  # nine vectors of 384 numbers a page
_TRIES = 20
_REMEDY = "end Hopweave, delete the file, and run `hopweave doctor --repair`"
_PAUSE_SECONDS = 0.05


class ConnectionPool:
    """Opens connections as they are needed, and keeps them until `close`; a later call opens them again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._write_lock = Lock()
        self._pool_lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._watch_lock = Lock()
        self._watch: sqlite3.Connection | None = None
        self._log_is_full = True
        """Also of a file that is opened: a process that was killed may have left the log so."""

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction. An exception rolls back."""
        with self._write_lock, self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
            if self._log_is_full:
                self._log_is_full = not empty_log(db)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: all its statements see one state."""
        with self._connection() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    def version(self) -> int:
        """Returns a number that changes with every commit of another connection. Takes some 3 µs."""
        with self._watch_lock, self._translate_errors():
            if self._watch is None:
                self._watch = self._connect()
            (version,) = self._watch.execute("PRAGMA data_version").fetchone()
            return int(version)

    def empty_log(self) -> None:
        """Empties SQLite's log (WAL), which has the vectors that were deleted.

        While others read it tries again for a second. Then it leaves it to the next write.
        """
        for _ in range(_TRIES):
            with self._write_lock, self._connection() as db:
                self._log_is_full = not empty_log(db)
            if not self._log_is_full:
                return
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        """Closes the connections, except those that are in a transaction of another thread."""
        with self._write_lock, self._watch_lock, self._pool_lock:
            for connection in [*self._idle, *([self._watch] if self._watch else [])]:
                connection.close()
            self._idle.clear()
            self._watch = None

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._translate_errors():
            with self._pool_lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._open()
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                with self._pool_lock:
                    self._idle.append(connection)

    def _open(self) -> sqlite3.Connection:
        connection = self._connect()
        if self._log_is_full:
            with suppress(sqlite3.OperationalError):  # a disk that is full or read-only can still be searched
                self._log_is_full = not empty_log(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        return connect(self._path, _create_tables, page_size=_PAGE_SIZE)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # in a message of SQLite on a damaged file
            raise Unavailable(f"the vectors in {self._path} are damaged: {_REMEDY}") from error
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                raise Unavailable(f"the vectors in {self._path} are damaged ({error}): {_REMEDY}") from error
            message = f"the vectors in {self._path} cannot be reached ({error}): check the disk and try again"
            raise Unavailable(message) from error


def _create_tables(db: sqlite3.Connection) -> None:
    """Creates the tables of a new file. Looks first, for creating takes the write lock."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'removals'").fetchone():
        run_script(db, _SCHEMA)
