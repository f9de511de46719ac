"""The instances that a developer and the tests share: one of each, on the usual ports."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.servers.milvus_lite_server import MilvusLiteServer
from tests.servers.milvus_server import MilvusServer
from tests.servers.neo4j_server import Neo4jServer
from tests.servers.redis_server import RedisServer
from tests.servers.s3_server import S3Server
from tests.servers.server import INSTALLED, Server


def shared(folder: Path = INSTALLED) -> Mapping[str, Server]:
    servers: Sequence[Server] = (
        RedisServer(folder / "redis" / "home"),
        Neo4jServer(folder / "neo4j" / "home"),
        MilvusServer(folder / "milvus" / "home"),
        MilvusLiteServer(folder / "milvus-lite" / "home"),
        S3Server(folder / "s3" / "home"),
    )
    return {server.name: server for server in servers}


def settings_for(server: Server) -> Mapping[str, str]:
    """What Hopweave reads from the environment to use it. Milvus-lite stands in for a newer Milvus in tests only."""
    match server:
        case RedisServer():
            return {"HOPWEAVE_BROKER__URL": server.url}
        case Neo4jServer():
            return {
                "HOPWEAVE_STORE__RECORD": "neo4j",
                "HOPWEAVE_STORE__TEXT": "neo4j",
                "HOPWEAVE_NEO4J__URI": server.uri,
                "HOPWEAVE_NEO4J__USER": server.user,
                "HOPWEAVE_NEO4J__PASSWORD": server.password,
            }
        case MilvusServer():
            return {"HOPWEAVE_STORE__VECTORS": "milvus", "HOPWEAVE_MILVUS__URI": server.uri}
        case S3Server():
            return {"HOPWEAVE_FILES__URL": f"s3://{server.bucket}", **server.environment_of_clients}
        case _:
            return {}
