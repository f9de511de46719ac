"""The port of tombstones in SQLite."""

from collections.abc import Sequence

from core.ports.record import Tombstone
from stores.sqlite.commit import tombstones as rows
from stores.sqlite.database import Database

__all__ = ["SqliteTombstones"]


class SqliteTombstones:
    """Fills `core.ports.record.Tombstones`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        await self._database.write(lambda cx: rows.bury(cx, tombstone, documents, grace))

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        return await self._database.read(lambda cx: rows.due(cx, corpus_id))

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda cx: rows.unnamed(cx, tombstone))

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        await self._database.write(lambda cx: rows.clear(cx, tombstones))
