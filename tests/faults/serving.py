"""The application over real servers that a test may harm, with a client that speaks to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.container import Container
from core.settings import Settings
from tests.integration.api.conftest import Server
from tests.servers.neo4j_server import PASSWORD, Neo4jServer
from tests.servers.redis_server import RedisServer
from tests.twins.embedder import TwinEmbedder


@asynccontextmanager
async def serving(neo4j: Neo4jServer, milvus_uri: str, redis: RedisServer, folder: Path) -> AsyncIterator[Server]:
    settings = Settings.model_validate(
        {
            "data_dir": folder / "data",
            "store": {"record": "neo4j", "vectors": "milvus", "text": "neo4j"},
            "neo4j": {"uri": neo4j.uri, "password": PASSWORD},
            "milvus": {"uri": milvus_uri},
            "broker": {"url": redis.url},
            "files": {"url": str(folder / "originals")},
        }
    )
    async with make_served(settings) as made:
        yield made


@asynccontextmanager
async def make_served(settings: Settings) -> AsyncIterator[Server]:
    container = Container(settings)
    container.embedder = TwinEmbedder()
    made = Server(container)
    try:
        yield made
    finally:
        await made.client.aclose()
        await container.close()
