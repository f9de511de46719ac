"""A record of another release is refused before anything is read of it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import Unavailable
from stores.sqlite.database import SCHEMA_VERSION
from stores.sqlite.record import SqliteRecord


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_another_schema_is_refused_with_the_remedy(tmp_path: Path, version: int) -> None:
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.execute("CREATE TABLE corpora (id TEXT)")
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(Unavailable, match=rf"record\.db has schema {version}, .* reads {SCHEMA_VERSION}: .* new data"):
        SqliteRecord(tmp_path / "record.db")


async def test_its_own_schema_opens_again(tmp_path: Path) -> None:
    for _ in range(2):
        record = SqliteRecord(tmp_path / "record.db")
        assert await record.corpora.all() == []
        await record.close()
