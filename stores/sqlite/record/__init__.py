"""The record in one SQLite file."""

import asyncio
from pathlib import Path

from core.filters import DocumentFilter
from core.ports.record import Record
from stores.sqlite.database import SqliteDatabase
from stores.sqlite.keys import SqliteKeys
from stores.sqlite.questions import SqliteQuestions
from stores.sqlite.record.certificates import SqliteCertificates
from stores.sqlite.record.claims import SqliteClaims, SqliteStaging
from stores.sqlite.record.commits import SqliteCommits
from stores.sqlite.record.corpora import SqliteCorpora, SqliteReindexing
from stores.sqlite.record.documents import SqliteContents, SqliteDocuments
from stores.sqlite.record.exporter import SqliteExporter
from stores.sqlite.record.graph import SqliteEntityMerges, SqliteGraphSource
from stores.sqlite.record.jobs import SqliteJobs
from stores.sqlite.record.maintenance import SqliteMaintenance, SqliteReceipts
from stores.sqlite.record.resolution import SqliteEntityResolution, SqliteGraphSchemas
from stores.sqlite.record.submissions import SqliteSubmissions
from stores.sqlite.record.tombstones import SqliteTombstones


class SqliteRecord(Record):
    """Implements `core.ports.record.Record`; any number of processes may open the same file."""

    def __init__(self, path: Path) -> None:
        self._database = SqliteDatabase(path)
        self.corpora = SqliteCorpora(self._database)
        self.reindexing = SqliteReindexing(self._database)
        self.submissions = SqliteSubmissions(self._database)
        self.jobs = SqliteJobs(self._database)
        self.claims = SqliteClaims(self._database)
        self.staging = SqliteStaging(self._database)
        self.commits = SqliteCommits(self._database)
        self.tombstones = SqliteTombstones(self._database)
        self.maintenance = SqliteMaintenance(self._database)
        self.certificates = SqliteCertificates(self._database)
        self.documents = SqliteDocuments(self._database)
        self.contents = SqliteContents(self._database)
        self.receipts = SqliteReceipts(self._database)
        self.keys = SqliteKeys(self._database)
        self.questions = SqliteQuestions(self._database)
        self.graph = SqliteGraphSource(self._database)
        self.merges = SqliteEntityMerges(self._database)
        self.resolution = SqliteEntityResolution(self._database)
        self.graph_schemas = SqliteGraphSchemas(self._database)
        self.exporter = SqliteExporter(self._database)

    def for_key(self, key: str | None, where: DocumentFilter | None = None) -> "SqliteRecord":
        return self.with_ports(
            corpora=SqliteCorpora(self._database, key),
            reindexing=SqliteReindexing(self._database, key),
            submissions=SqliteSubmissions(self._database, key, where),
            jobs=SqliteJobs(self._database, where),
        )

    async def check(self) -> str:
        """Returns SQLite's version, after reading the file."""
        return await self._database.read(lambda cx: f"SQLite {cx.execute('SELECT sqlite_version()').fetchone()[0]}")

    async def close(self) -> None:
        await asyncio.to_thread(self._database.close)
