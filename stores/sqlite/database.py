"""One SQLite file, shared by threads and processes: WAL, and every write transaction immediate."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import TypeVar

from core.errors import Unavailable
from stores.sqlite.migrations import steps_from

__all__ = ["SCHEMA_VERSION", "Connection", "Cursor", "Database", "Row", "Snapshot", "found_version", "now"]

T = TypeVar("T")
Connection = sqlite3.Connection
Cursor = sqlite3.Cursor
Row = sqlite3.Row

SCHEMA_VERSION = 4
_BUSY_SECONDS = 30
_INTERRUPT_SECONDS = 0.05

_PRAGMAS = (
    "pragma synchronous = normal",  # a power cut may lose the last commits, a killed process does not
    "pragma busy_timeout = 30000",
    "pragma cache_size = -16384",
    "pragma temp_store = memory",
)


def found_version(path: Path) -> int | None:
    """The version of the schema in a file, read without opening it for writing; None where there is no file."""
    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.OperationalError as error:
        raise Unavailable(f"the record {path.name} cannot be read: {error}") from error
    with closing(connection):
        try:
            return int(connection.execute("pragma user_version").fetchone()[0]) or None
        except sqlite3.DatabaseError as error:
            raise Unavailable(f"the record {path.name} cannot be read: {error}") from error


def now() -> float:
    """Seconds since 1970 by the store's clock, which for SQLite is the machine's."""
    return time.time()


class Database:
    """Connections to one file, one per thread; `read` and `write` run a function of a connection off the event loop.

    Deferred transactions that read and then write fail at once under contention (SQLITE_BUSY ignores the timeout), so
    `write` always takes the write lock first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._opened: list[Connection] = []
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._running = 0
        self._closed = False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._create()
        except BaseException:
            self.close()
            raise

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a read transaction: all its queries see one state of the database."""
        return await asyncio.to_thread(self.read_now, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a write transaction; any exception rolls back."""
        return await asyncio.to_thread(self.write_now, work)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator["Snapshot"]:
        """A connection of its own in a read transaction, for reading that takes many steps over one state."""
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
        """Close the connections of all threads, once what runs on them has ended; a later call fails.

        A thread goes on though the task that waited for it was cancelled, and SQLite crashes the process where a
        connection is closed under it.
        """
        with self._lock:
            self._closed = True
            while self._running:  # again and again: a thread may have been between two statements
                for connection in self._opened:
                    connection.interrupt()
                self._idle.wait(_INTERRUPT_SECONDS)
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def _transact(self, begin: str, work: Callable[[Connection], T]) -> T:
        with self._in_use():
            return self._transacted(begin, work)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise Unavailable(self._over())
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                self._idle.notify_all()

    def _transacted(self, begin: str, work: Callable[[Connection], T]) -> T:
        try:
            connection = self._connection()
            connection.execute(begin)
        except sqlite3.OperationalError as error:
            raise self._unavailable(error) from error
        try:
            result = work(connection)
            connection.execute("commit")
        except sqlite3.OperationalError as error:
            if self._closed:  # nothing runs on an interrupted connection until all its cursors are gone
                raise Unavailable(self._over()) from error
            self._roll_back(connection)
            raise self._unavailable(error) from error
        except BaseException:
            self._roll_back(connection)
            raise
        return result

    def _roll_back(self, connection: Connection) -> None:
        if connection.in_transaction:
            connection.execute("rollback")

    def _over(self) -> str:
        return f"the record {self._path.name} is closed"

    def _unavailable(self, error: sqlite3.OperationalError) -> Unavailable:
        return Unavailable(
            f"the record {self._path.name} cannot be used: {error}; is the disk full or the folder read-only?"
        )

    def _connection(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open()
            self._local.connection = connection
        return connection

    def _open(self) -> Connection:
        with self._lock:
            if self._closed:
                raise Unavailable(self._over())
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                connection.row_factory = sqlite3.Row
                _use_wal(connection)
                for pragma in _PRAGMAS:
                    connection.execute(pragma)
            except sqlite3.Error:
                connection.close()
                raise
            self._opened.append(connection)
            return connection

    def _create(self) -> None:
        def work(connection: Connection) -> None:
            version = connection.execute("pragma user_version").fetchone()[0]
            if version == SCHEMA_VERSION:
                return
            for statement in self._statements_from(version):
                connection.execute(statement)
            connection.execute(f"pragma user_version = {SCHEMA_VERSION:d}")

        self.write_now(work)

    def _statements_from(self, version: int) -> list[str]:
        if version == 0:
            return _statements(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
        steps = steps_from(version, SCHEMA_VERSION)
        if steps is None:
            raise Unavailable(
                f"the record {self._path.name} has schema {version}, and this release reads {SCHEMA_VERSION}: "
                "use the release that wrote it, or ingest again into a new data folder"
            )
        return steps


class Snapshot:
    """One state of the database, read step by step."""

    def __init__(self, connection: Connection, in_use: Callable[[], AbstractContextManager[None]]) -> None:
        self._connection = connection
        self._in_use = in_use
        self._stepping = threading.Lock()
        self._ended = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        """One step, off the event loop; its thread goes on though the task that waits for it is cancelled."""
        return await asyncio.to_thread(self._run, work)

    def end(self) -> Connection:
        """Refuse further steps, and wait for the one that runs: what is returned may be closed."""
        self._ended = True
        while not self._stepping.acquire(timeout=_INTERRUPT_SECONDS):
            self._connection.interrupt()
        self._stepping.release()
        return self._connection

    def _run(self, work: Callable[[Connection], T]) -> T:
        with self._in_use(), self._stepping:
            if self._ended:
                raise Unavailable("the snapshot of the record has ended")
            try:
                return work(self._connection)
            except sqlite3.OperationalError as error:
                raise Unavailable(f"the record could not be read to the end: {error}") from error


def _use_wal(connection: Connection) -> None:
    """Switching a new file to WAL ignores the busy timeout, so several who open it at once have to try again."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _statements(script: str) -> list[str]:
    """Split a script: `executescript` would commit our transaction, and two processes may create at once."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
