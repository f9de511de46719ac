from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.ports.record import Record
from stores.sqlite.record import SqliteRecord
from testing.contracts.record import RecordContract


class TestSqliteRecord(RecordContract):
    @pytest.fixture
    async def record(self, tmp_path: Path) -> AsyncIterator[Record]:
        record = SqliteRecord(tmp_path / "record.db")
        yield record
        await record.close()

    @pytest.fixture
    async def other(self, record: Record, tmp_path: Path) -> AsyncIterator[Record]:
        other = SqliteRecord(tmp_path / "record.db")
        yield other
        await other.close()
