"""The record in one Neo4j database: one module for each of its ports."""

import asyncio

from core.filters import DocumentFilter
from core.ports.record import Record
from stores.neo4j.certificates import Neo4jCertificates
from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.keys import Neo4jKeys
from stores.neo4j.questions import Neo4jQuestions
from stores.neo4j.record.claims import Neo4jClaims, Neo4jStaging
from stores.neo4j.record.commits import Neo4jCommits, Neo4jTombstones
from stores.neo4j.record.corpora import Neo4jCorpora, Neo4jReindexing
from stores.neo4j.record.documents import Neo4jContents, Neo4jDocuments
from stores.neo4j.record.exporter import Neo4jExporter
from stores.neo4j.record.graph import Neo4jEntityMerges, Neo4jGraphSource
from stores.neo4j.record.jobs import Neo4jJobs
from stores.neo4j.record.maintenance import Neo4jMaintenance, Neo4jReceipts
from stores.neo4j.record.submissions import Neo4jSubmissions
from stores.neo4j.resolution import Neo4jEntityResolution, Neo4jGraphSchemas


class Neo4jRecord(Record):
    """Implements `core.ports.record.Record`. Any number of processes on any hosts may share the database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.database = Neo4jDatabase(connection)
        self.corpora = Neo4jCorpora(self.database)
        self.reindexing = Neo4jReindexing(self.database)
        self.submissions = Neo4jSubmissions(self.database)
        self.jobs = Neo4jJobs(self.database)
        self.claims = Neo4jClaims(self.database)
        self.staging = Neo4jStaging(self.database)
        self.commits = Neo4jCommits(self.database)
        self.tombstones = Neo4jTombstones(self.database)
        self.maintenance = Neo4jMaintenance(self.database)
        self.certificates = Neo4jCertificates(self.database)
        self.documents = Neo4jDocuments(self.database)
        self.contents = Neo4jContents(self.database)
        self.receipts = Neo4jReceipts(self.database)
        self.keys = Neo4jKeys(self.database)
        self.questions = Neo4jQuestions(self.database)
        self.graph = Neo4jGraphSource(self.database)
        self.merges = Neo4jEntityMerges(self.database)
        self.resolution = Neo4jEntityResolution(self.database)
        self.graph_schemas = Neo4jGraphSchemas(self.database)
        self.exporter = Neo4jExporter(self.database)

    def for_key(self, key: str | None, where: DocumentFilter | None = None) -> "Neo4jRecord":
        return self.with_ports(
            corpora=Neo4jCorpora(self.database, key),
            reindexing=Neo4jReindexing(self.database, key),
            submissions=Neo4jSubmissions(self.database, key, where),
            jobs=Neo4jJobs(self.database, where),
        )

    async def check(self) -> str:
        """Returns the name and version of the server. Raises `InvalidSettings` if the database is not ours."""
        await asyncio.to_thread(self.database.check)
        return await asyncio.to_thread(self._connection.server)

    async def close(self) -> None:
        await asyncio.to_thread(self._connection.close)
