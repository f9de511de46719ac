"""The port of tombstones in SQLite."""

from collections.abc import Sequence

from core.ports.record import Tombstone
from stores.sqlite.commit import tombstones as rows
from stores.sqlite.database import Connection, SqliteDatabase

__all__ = ["SqliteTombstones"]


class SqliteTombstones:
    """Implements `core.ports.record.Tombstones`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        def work(cx: Connection) -> None:
            if cx.execute("SELECT 1 FROM corpora WHERE id = ?", (tombstone.corpus_id,)).fetchone():
                rows.write(cx, tombstone, documents, grace)

        await self._database.write(work)

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        return await self._database.read(lambda cx: rows.list_due(cx, corpus_id))

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda cx: rows.select_orphans(cx, tombstone))

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        def work(cx: Connection) -> None:
            cx.executemany("DELETE FROM tombstones WHERE id = ?", [(one.id,) for one in tombstones])

        await self._database.write(work)
