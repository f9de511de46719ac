"""A SQLite file that cannot be opened leaves no open connection. Python 3.13 and later warn of one."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.errors import Unavailable
from core.ids import new_id
from core.ports.views import VectorKind
from stores.sqlite import SqliteRecord, SqliteVectorStore


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


def test_a_record_of_another_release(tmp_path: Path, opened: list[sqlite3.Connection]) -> None:
    path = tmp_path / "record.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 1000")
    opened.clear()
    with pytest.raises(Unavailable, match="schema 1000"):
        SqliteRecord(path)
    assert are_closed(opened)


def test_a_record_that_is_no_database(tmp_path: Path, opened: list[sqlite3.Connection]) -> None:
    path = tmp_path / "record.db"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(Unavailable, match=r"record\.db is damaged"):
        SqliteRecord(path)
    assert are_closed(opened)


async def test_vectors_that_are_no_database(tmp_path: Path, opened: list[sqlite3.Connection]) -> None:
    path = tmp_path / "vectors.db"
    path.write_bytes(b"no database" * 1000)
    store = SqliteVectorStore(path)
    with pytest.raises(Unavailable):
        await store.count(new_id(), VectorKind.CHUNK)
    assert are_closed(opened)
    await store.close()
