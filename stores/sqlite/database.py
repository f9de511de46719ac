"""The record's file, shared by threads and processes: transactions as functions of a connection.

A `Snapshot` is one state of the file, for reading that takes many steps; `SqliteDatabase` opens it.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from core.errors import Unavailable
from core.execution.threads import compute
from stores.sqlite.connection import BUSY_SECONDS, FAULTS, connect, is_damage, make_unavailable
from stores.sqlite.migrations import give_back_space
from stores.sqlite.packing import add_functions
from stores.sqlite.schema import create_schema, migrating_alone

T = TypeVar("T")

_INTERRUPT_SECONDS = 0.05
"""A statement is interrupted again after this time: its thread may have been between two statements."""


class Snapshot:
    """A connection in a read transaction, for one step at a time."""

    def __init__(self, connection: sqlite3.Connection, in_use: Callable[[], AbstractContextManager[None]]) -> None:
        """`in_use` is entered for each step, and raises `Unavailable` if the database is closed."""
        self._connection = connection
        self._in_use = in_use
        self._stepping = threading.Lock()
        self._ended = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs one step off the event loop. Its thread goes on if the task that awaits it is cancelled."""
        return await asyncio.to_thread(self._run, work)

    def end(self) -> sqlite3.Connection:
        """Refuses further steps, waits for the running step, and returns the connection, which may be closed then."""
        self._ended = True
        while not self._stepping.acquire(timeout=_INTERRUPT_SECONDS):
            self._connection.interrupt()
        self._stepping.release()
        return self._connection

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._in_use(), self._stepping:
            if self._ended:
                raise Unavailable("the snapshot of the record has ended")
            try:
                return work(self._connection)
            except FAULTS as error:
                if not (is_damage(error) or isinstance(error, sqlite3.OperationalError)):
                    raise
                raise Unavailable(f"the record could not be read to the end: {error}") from error


P = TypeVar("P")

_REMEDY = "put back a copy of the data folder, or restore a backup into a new one (`hopweave restore`)"
Connection = sqlite3.Connection
Cursor = sqlite3.Cursor


def now() -> float:
    """Seconds since 1970 by the store's clock, which for SQLite is the machine's."""
    return time.time()


class SqliteDatabase:
    """Connections to one file, as many as transactions run at once. Each has a page cache of its own.

    `read` and `write` run a function of a connection off the event loop.

    A deferred transaction that reads and then writes fails at once under contention (SQLITE_BUSY ignores the timeout),
    so `write` takes the write lock first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unused: list[Connection] = []
        self._opened: list[Connection] = []
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._running = 0
        self._closed = False
        try:
            with migrating_alone(path):
                if self.write_now(lambda connection: create_schema(connection, path.name)):
                    self._outside_transactions(lambda connection: give_back_space(connection, path))
        except BaseException:
            self.close()
            raise

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` in a read transaction: all its queries see one state of the database."""
        return await compute(self.read_now, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Runs `work` in a write transaction; any exception rolls back."""
        return await asyncio.to_thread(self.write_now, work)

    async def write_prepared(
        self,
        prepare: Callable[[Connection], P],
        work: Callable[[Connection, P], T],
        clear: Callable[[Connection], None],
    ) -> T:
        """Runs `work` with what `prepare` returns in a write transaction, and at the end `clear`.

        `prepare` and `clear` run on the same connection without the write lock, so they may take long, and may write
        temporary tables only. What `prepare` has read may be outdated in `work`.
        """
        return await asyncio.to_thread(self._write_prepared, prepare, work, clear)

    async def empty_log(self) -> None:
        """Moves what was committed from SQLite's log (WAL) into the file, and empties the log, which has the texts of
        deleted rows. Does nothing while others read or write: then a later call does it.
        """
        await asyncio.to_thread(self._empty_log)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """A connection of its own in a read transaction, for reading that takes many steps."""
        snapshot = Snapshot(await asyncio.to_thread(self._open), self._in_use)
        try:
            await snapshot.run(lambda connection: connection.execute("begin"))
            yield snapshot
        finally:
            connection = snapshot.end()
            with self._lock:
                connection.close()
                if connection in self._opened:
                    self._opened.remove(connection)

    def read_now(self, work: Callable[[Connection], T]) -> T:
        return self._transact("begin", work)

    def write_now(self, work: Callable[[Connection], T]) -> T:
        return self._transact("begin immediate", work)

    def close(self) -> None:
        """Closes the connections of all threads when their statements have ended. A later call fails.

        Interrupts the statements: a thread goes on if the task that awaits it is cancelled, and SQLite crashes the
        process if a connection is closed during a statement.
        """
        with self._lock:
            self._closed = True
            while self._running:
                for connection in self._opened:
                    connection.interrupt()
                self._idle.wait(_INTERRUPT_SECONDS)
            for connection in self._opened:
                connection.close()
            self._opened.clear()
            self._unused.clear()

    def _transact(self, begin: str, work: Callable[[Connection], T]) -> T:
        with self._connection() as connection:
            return self._run(connection, begin, work)

    def _write_prepared(
        self,
        prepare: Callable[[Connection], P],
        work: Callable[[Connection, P], T],
        clear: Callable[[Connection], None],
    ) -> T:
        with self._connection() as connection:
            prepared = self._run(connection, "begin", prepare)
            try:
                return self._run(connection, "begin immediate", lambda connection: work(connection, prepared))
            finally:
                self._run(connection, "begin", clear)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """A connection for the transactions of one caller."""
        with self._in_use():
            with self._translating():
                connection = self._take()
            try:
                yield connection
            finally:
                with self._lock:
                    self._unused.append(connection)

    def _empty_log(self) -> None:
        def work(connection: Connection) -> None:
            connection.execute("pragma wal_checkpoint(truncate)").fetchone()

        self._outside_transactions(work)

    def _outside_transactions(self, work: Callable[[Connection], None]) -> None:
        """Runs statements that must not be in a transaction, and must not wait for others: they would wait, too."""
        with self._in_use():
            connection = self._take()
            try:
                with self._translating():
                    connection.execute("pragma busy_timeout = 0")
                    work(connection)
            finally:
                connection.execute(f"pragma busy_timeout = {1000 * BUSY_SECONDS:.0f}")
                with self._lock:
                    self._unused.append(connection)

    def _run(self, connection: Connection, begin: str, work: Callable[[Connection], T]) -> T:
        with self._translating():
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("commit")
            except BaseException as error:
                # Nothing runs on an interrupted connection until all its cursors are gone.
                if self._closed and isinstance(error, sqlite3.OperationalError):
                    raise self._closed_error() from error
                _roll_back(connection)
                raise
        return result

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Counts a running transaction. Raises `Unavailable` if the database is closed."""
        with self._lock:
            if self._closed:
                raise self._closed_error()
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                self._idle.notify_all()

    def _take(self) -> Connection:
        """Returns the connection that was used last, whose cache is the fullest, or a new one if all are in use."""
        with self._lock:
            if self._unused:
                return self._unused.pop()
        return self._open()

    def _open(self) -> Connection:
        with self._lock:
            if self._closed:
                raise self._closed_error()
            connection = connect(self._path, _prepare)
            self._opened.append(connection)
            return connection

    def _closed_error(self) -> Unavailable:
        return Unavailable(f"the record {self._path.name} is closed")

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Translates the errors of a file that is damaged or cannot be used now. Errors of a bug pass."""
        try:
            yield
        except FAULTS as error:
            made = make_unavailable(
                f"the record {self._path}", error, else_do="is the disk full or the folder read-only?", remedy=_REMEDY
            )
            if made is None:
                raise
            raise made from error


def _prepare(connection: Connection) -> None:
    connection.row_factory = sqlite3.Row
    add_functions(connection)
    connection.execute("pragma cache_size = -16384")
    connection.execute("pragma temp_store = file")  # rows of a commit may be large


def _roll_back(connection: Connection) -> None:
    if connection.in_transaction:
        connection.execute("rollback")


class SqlitePort:
    """A port of the record over its database."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
