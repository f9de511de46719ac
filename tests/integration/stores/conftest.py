"""An emptied Neo4j for tests of the record in it, with the corpus `books`. Other contracts have their own."""

from collections.abc import AsyncIterator

import pytest

from core.corpora import Corpus
from stores.neo4j.record import Neo4jRecord
from testing.record import SETTINGS
from tests.integration.stores.neo4j_databases import connection_to, emptied
from tests.servers.addresses import Neo4jAddress


@pytest.fixture
async def record(neo4j_server: Neo4jAddress) -> AsyncIterator[Neo4jRecord]:
    emptied(neo4j_server)
    record = Neo4jRecord(connection_to(neo4j_server))
    yield record
    await record.close()


@pytest.fixture
async def other(record: Neo4jRecord, neo4j_server: Neo4jAddress) -> AsyncIterator[Neo4jRecord]:  # noqa: ARG001 - emptied before
    """The record of another process."""
    other = Neo4jRecord(connection_to(neo4j_server))
    yield other
    await other.close()


@pytest.fixture
async def corpus(record: Neo4jRecord) -> Corpus:
    return await record.corpora.create("books", SETTINGS)
