"""The composition on servers: Neo4j, Milvus, a broker and shared files, with any number of workers on any hosts."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Literal

from app.broker.broker import check_broker
from app.broker.notifiers import ServerNotifier
from app.composition.composition import Check, Schema
from app.composition.milvus import describe_other_indexes, make_milvus_vectors
from app.supervision.supervision import RemoteWorkers
from app.supervision.worker_pool import WorkerPool
from core.ports.views import VectorKind
from core.settings import Settings
from stores.milvus import MilvusVectorStore
from stores.neo4j import NEO4J_SCHEMA, Connection, Neo4jRecord, Neo4jTextIndex, Neo4jTrails, neo4j_schema_of


class ServerComposition:
    """The record, the text index and the trails share one connection to Neo4j. Workers are started by themselves."""

    worker: Literal["server"] = "server"
    waits_for_servers = True
    locked_folder = None
    next_worker = "with the workers"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def exists(self) -> bool:
        return True

    @cached_property
    def _record(self) -> Neo4jRecord:
        neo4j = self._settings.neo4j
        return Neo4jRecord(Connection(neo4j.uri, neo4j.user, neo4j.password.get_secret_value(), neo4j.database))

    @cached_property
    def _vectors(self) -> MilvusVectorStore:
        return make_milvus_vectors(self._settings.milvus)

    def make_record(self) -> Neo4jRecord:
        return self._record

    def make_vectors(self) -> MilvusVectorStore:
        return self._vectors

    def make_text_index(self) -> Neo4jTextIndex:
        return Neo4jTextIndex(self._record.database)

    def make_trails(self) -> Neo4jTrails | None:
        trails = self._settings.trails
        return Neo4jTrails(self._record.database, trails.days) if trails.enabled else None

    def make_notifier(self) -> ServerNotifier:
        return ServerNotifier(self._settings)

    def server_checks(self) -> Mapping[str, Check]:
        async def broker() -> str:
            return await asyncio.to_thread(check_broker, self._settings)

        return {"broker": broker}

    async def read_schema(self) -> Schema:
        neo4j = self._settings.neo4j
        password = neo4j.password.get_secret_value()
        found = await asyncio.to_thread(neo4j_schema_of, neo4j.uri, neo4j.user, password, neo4j.database)
        return Schema(record=f"Neo4j at {neo4j.uri}", found=found, newest=NEO4J_SCHEMA)

    async def describe_other_indexes(self, corpus_id: str) -> Mapping[VectorKind, str]:
        return await describe_other_indexes(self._vectors, corpus_id)

    async def measure_recall(self, corpus_id: str) -> Mapping[VectorKind, float]:  # noqa: ARG002 - the port names it
        return {}

    async def clean_vector_files(self) -> int:
        return 0

    def lock_views(self) -> AbstractContextManager[object]:
        return nullcontext()

    def supervise(self) -> RemoteWorkers:
        return RemoteWorkers(self._settings)

    def run_workers(self, concurrency: int, report: Callable[[str], None]) -> bool:  # noqa: ARG002  # they log instead
        return WorkerPool(self._settings, concurrency).run()
