"""The record in one Neo4j database."""

import asyncio

from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.database import Database
from stores.neo4j.record.corpora import Neo4jCorpora
from stores.neo4j.record.exporter import Neo4jExporter
from stores.neo4j.record.graph import Neo4jGraphSource
from stores.neo4j.record.intake import Neo4jIntake
from stores.neo4j.record.jobs import Neo4jJobs
from stores.neo4j.record.library import Neo4jLibrary
from stores.neo4j.record.work import Neo4jWorkQueue

__all__ = ["Neo4jRecord"]


class Neo4jRecord:
    """Fills `core.ports.record.Record`; any number of processes on any hosts may share the database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.database = Database(connection)
        self.corpora = Neo4jCorpora(self.database)
        self.intake = Neo4jIntake(self.database)
        self.work = Neo4jWorkQueue(self.database)
        self.library = Neo4jLibrary(self.database)
        self.graph = Neo4jGraphSource(self.database)
        self.jobs = Neo4jJobs(self.database)
        self.exporter = Neo4jExporter(self.database)

    async def check(self) -> str:
        """What the server calls itself. Raises `InvalidSettings` where the database is not ours."""
        await asyncio.to_thread(self.database.check)
        return await asyncio.to_thread(self._connection.server)

    async def close(self) -> None:
        await asyncio.to_thread(self._connection.close)
