"""The record in one SQLite file."""

import asyncio
from pathlib import Path

from stores.sqlite.database import Database
from stores.sqlite.record.corpora import SqliteCorpora
from stores.sqlite.record.exporter import SqliteExporter
from stores.sqlite.record.graph import SqliteGraphSource
from stores.sqlite.record.intake import SqliteIntake
from stores.sqlite.record.jobs import SqliteJobs
from stores.sqlite.record.library import SqliteLibrary
from stores.sqlite.record.work import SqliteWorkQueue

__all__ = ["SqliteRecord"]


class SqliteRecord:
    """Fills `core.ports.record.Record`; any number of processes may open the same file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path)
        self.corpora = SqliteCorpora(self._database)
        self.intake = SqliteIntake(self._database)
        self.work = SqliteWorkQueue(self._database)
        self.library = SqliteLibrary(self._database)
        self.graph = SqliteGraphSource(self._database)
        self.jobs = SqliteJobs(self._database)
        self.exporter = SqliteExporter(self._database)

    async def check(self) -> str:
        """SQLite's version, once the file has been read."""
        return await self._database.read(lambda cx: f"SQLite {cx.execute('SELECT sqlite_version()').fetchone()[0]}")

    async def close(self) -> None:
        await asyncio.to_thread(self._database.close)
