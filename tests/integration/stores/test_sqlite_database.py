"""Closing a file of SQLite: what is still in use, what was deleted, and what could not be opened."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.errors import Unavailable
from core.ids import new_id
from core.ports.views import VectorKind
from stores.sqlite import SqliteRecord, SqliteVectorStore
from stores.sqlite import database as module
from stores.sqlite.connection import connect
from stores.sqlite.database import Connection, SqliteDatabase

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "record.db")
    yield database
    await asyncio.to_thread(database.close)


class Work:
    """Runs a statement that never ends by itself, and tells how far it is."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.over = threading.Event()

    def __call__(self, connection: Connection) -> None:
        self.begun.set()
        try:
            connection.execute(_ENDLESS).fetchone()
        finally:
            self.over.set()


@pytest.mark.parametrize("write", [False, True])
async def test_close_ends_what_nobody_waits_for_any_more(database: SqliteDatabase, write: bool):
    work = Work()
    task = asyncio.create_task(database.write(work) if write else database.read(work))
    await asyncio.to_thread(work.begun.wait)
    task.cancel()
    await asyncio.wait([task])
    assert not work.over.is_set()
    await asyncio.to_thread(database.close)
    assert work.over.is_set()


async def test_whoever_still_waits_is_told_that_it_is_closed(database: SqliteDatabase):
    work = Work()

    def with_an_open_cursor(connection: Connection) -> None:
        for _ in connection.execute("SELECT 1 UNION ALL SELECT 2"):
            work(connection)

    task = asyncio.create_task(database.write(with_an_open_cursor))
    await asyncio.to_thread(work.begun.wait)
    await asyncio.to_thread(database.close)
    with pytest.raises(Unavailable, match=r"record\.db is closed"):
        await task
    with pytest.raises(Unavailable, match=r"record\.db is closed"):
        await database.read(lambda _: None)


async def test_a_snapshot_ends_with_the_step_that_runs(database: SqliteDatabase):
    work = Work()

    async def read() -> None:
        async with database.snapshot() as snapshot:
            await snapshot.run(work)

    task = asyncio.create_task(read())
    await asyncio.to_thread(work.begun.wait)
    task.cancel()
    await asyncio.wait([task])
    assert work.over.is_set()
    assert await database.read(lambda connection: connection.execute("SELECT 1").fetchone()[0]) == 1


async def test_close_waits_for_a_snapshot_too(database: SqliteDatabase):
    work = Work()

    async def read() -> None:
        async with database.snapshot() as snapshot:
            await snapshot.run(work)

    task = asyncio.create_task(read())
    await asyncio.to_thread(work.begun.wait)
    await asyncio.to_thread(database.close)
    assert work.over.is_set()
    with pytest.raises(Unavailable, match="interrupted"):
        await task


async def test_transactions_in_many_threads_share_the_connections_that_are_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    monkeypatch.setattr(module, "connect", lambda *given: opened.append(connect(*given)) or opened[-1])
    database = SqliteDatabase(tmp_path / "record.db")
    together = threading.Barrier(3)
    with ThreadPoolExecutor(3) as threads:
        for _ in range(3):
            list(threads.map(lambda _: together.wait() and database.read_now(lambda _: None), range(3)))
    for _ in range(5):
        thread = threading.Thread(target=database.read_now, args=(lambda _: None,))
        thread.start()
        thread.join()
    await asyncio.to_thread(database.close)
    assert 1 <= len(opened) <= 3


def _count_files_with(folder: Path, word: bytes) -> int:
    return sum(word in path.read_bytes() for path in folder.iterdir())


async def _write_and_delete(database: SqliteDatabase, word: str) -> None:
    await database.write(lambda cx: cx.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT)"))
    await database.write(lambda cx: cx.execute("INSERT INTO notes VALUES (?)", (word,)))
    await database.write(lambda cx: cx.execute("DELETE FROM notes"))


async def test_nothing_deleted_is_left_in_the_files_after_the_log_is_emptied(
    database: SqliteDatabase, tmp_path: Path
) -> None:
    await _write_and_delete(database, "Blomquastible")
    assert _count_files_with(tmp_path, b"Blomquastible") == 1
    await database.empty_log()
    assert _count_files_with(tmp_path, b"Blomquastible") == 0


async def test_the_log_of_a_file_that_is_read_is_emptied_later(database: SqliteDatabase, tmp_path: Path) -> None:
    async with database.snapshot() as reading:
        await reading.run(lambda cx: cx.execute("SELECT count(*) FROM corpora").fetchone())
        await _write_and_delete(database, "Blomquastible")
        await database.empty_log()
        await database.write(lambda cx: cx.execute("INSERT INTO notes VALUES ('another')"))
    await database.empty_log()
    assert _count_files_with(tmp_path, b"Blomquastible") == 0
    assert await database.read(lambda cx: cx.execute("SELECT text FROM notes").fetchone()[0]) == "another"


def test_a_statement_that_something_keeps_bars_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profiler or a debugger may hold cursors longer than their users do."""
    kept: list[sqlite3.Cursor] = []

    class Keeping(sqlite3.Connection):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            kept.append(super().execute(*arguments))
            return kept[-1]

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Keeping))
    database = SqliteDatabase(tmp_path / "record.db")
    database.write_now(lambda connection: connection.execute("create table rows (x)"))
    asyncio.run(database.empty_log())
    database.write_now(lambda connection: connection.execute("insert into rows values (1)"))
    kept.clear()
    database.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """All connections, as they are opened."""
    connections: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def recorded(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connections.append(connect(*arguments, **options))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", recorded)
    return connections


def are_closed(connections: list[sqlite3.Connection]) -> bool:
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("select 1")
    return bool(connections)


def test_a_record_that_cannot_be_opened_leaves_no_open_connection(
    tmp_path: Path, opened: list[sqlite3.Connection]
) -> None:
    """Python 3.13 and later warn of one."""
    path = tmp_path / "record.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 1000")
    for told in ("schema 1000", r"record\.db is damaged"):
        opened.clear()
        with pytest.raises(Unavailable, match=told):
            SqliteRecord(path)
        assert are_closed(opened)
        path.write_bytes(b"no database" * 1000)


async def test_vectors_that_are_no_database_leave_no_open_connection(
    tmp_path: Path, opened: list[sqlite3.Connection]
) -> None:
    path = tmp_path / "vectors.db"
    path.write_bytes(b"no database" * 1000)
    store = SqliteVectorStore(path)
    with pytest.raises(Unavailable):
        await store.count(new_id(), VectorKind.CHUNK)
    assert are_closed(opened)
    await store.close()
