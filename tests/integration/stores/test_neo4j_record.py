from collections.abc import AsyncIterator

import pytest

from core.ports.record import Record
from stores.neo4j.record import Neo4jRecord
from testing.contracts.record import RecordContract
from tests.integration.stores.neo4j_databases import connection_to, emptied
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers


class TestNeo4jRecord(RecordContract):
    @pytest.fixture
    async def record(self, neo4j_server: Neo4jAddress) -> AsyncIterator[Record]:
        emptied(neo4j_server)
        record = Neo4jRecord(connection_to(neo4j_server))
        yield record
        await record.close()

    @pytest.fixture
    async def other(self, record: Record, neo4j_server: Neo4jAddress) -> AsyncIterator[Record]:
        other = Neo4jRecord(connection_to(neo4j_server))
        yield other
        await other.close()
