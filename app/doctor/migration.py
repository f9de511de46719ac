"""The record's schema: which one is there, and bringing an older one up to this release's."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from app.container import Container
from core.settings import Settings
from stores.neo4j import NEO4J_SCHEMA, neo4j_schema_of
from stores.sqlite import SQLITE_SCHEMA, sqlite_schema_of

__all__ = ["Schema", "SchemaState", "examine", "migrate"]


class SchemaState(StrEnum):
    """`missing`: nothing is there yet, and the first use makes it."""

    MISSING = "missing"
    NEWEST = "newest"
    OLDER = "older"
    NEWER = "newer"


@dataclass(frozen=True, kw_only=True)
class Schema:
    """`found` is the version that is there (None: none), `newest` the one that this release reads."""

    record: str
    found: int | None
    newest: int

    @property
    def state(self) -> SchemaState:
        if self.found is None:
            return SchemaState.MISSING
        if self.found == self.newest:
            return SchemaState.NEWEST
        return SchemaState.OLDER if self.found < self.newest else SchemaState.NEWER


async def examine(settings: Settings) -> Schema:
    """Look, and write nothing. Raises `Unavailable`, or `InvalidSettings` where the record is not ours."""
    if settings.on_servers:
        neo4j = settings.neo4j
        password = neo4j.password.get_secret_value()
        found = await asyncio.to_thread(neo4j_schema_of, neo4j.uri, neo4j.user, password, neo4j.database)
        return Schema(record=f"Neo4j at {neo4j.uri}", found=found, newest=NEO4J_SCHEMA)
    path = settings.data_dir / "record.db"
    found = await asyncio.to_thread(sqlite_schema_of, path)
    return Schema(record=str(path), found=found, newest=SQLITE_SCHEMA)


async def migrate(settings: Settings) -> Schema:
    """Bring the record up to this release's schema; what is up to date stays as it is.

    Raises `Unavailable` or `InvalidSettings` where this release cannot read what is there.
    """
    container = Container(settings)
    try:
        await container.record.check()
    finally:
        await container.close()
    return await examine(settings)
