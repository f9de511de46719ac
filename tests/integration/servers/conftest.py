"""Two installations side by side: one embedded, one on real servers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from indexer import WorkerOptions
from tests.desk import Desk
from tests.servers.addresses import MilvusAddress, Neo4jAddress
from tests.stores import server_stores

_OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=64_000, task_seconds=600, retry_seconds=0)


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path / "embedded")
    yield desk
    await desk.close()


@pytest.fixture
async def served(clean_neo4j: Neo4jAddress, milvus_server: MilvusAddress, tmp_path: Path) -> AsyncIterator[Desk]:
    """What it has written to Milvus is dropped at the end; Neo4j is emptied before."""
    desk = Desk(tmp_path / "served", server_stores(clean_neo4j, milvus_server, tmp_path), _OPTIONS)
    yield desk
    for corpus in await desk.record.corpora.list():
        await desk.vectors.delete_corpus(corpus.id)
    await desk.close()
