"""The port `Tombstones` in Neo4j: ids that the record deleted and that views may still hold."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from core.errors import NotFound
from core.ports.record import Tombstone
from stores.neo4j.commit import tombstones as rows
from stores.neo4j.commit.bounds import SLICE_ROWS, Bounds
from stores.neo4j.commit.leftovers import delete_abandoned_leftovers
from stores.neo4j.driver.database import Neo4jDatabase

__all__ = ["Neo4jTombstones"]


class Neo4jTombstones:
    """Implements `core.ports.record.Tombstones`."""

    def __init__(self, database: Neo4jDatabase, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows` is the approximate number of chunks, mentions and facts that one transaction deletes."""
        self._database = database
        self._slice_rows = slice_rows

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        await self._database.write(
            tombstone.corpus_id, lambda tx: rows.insert_tombstone(tx, tombstone, documents, grace)
        )

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        await delete_abandoned_leftovers(self._database, corpus_id, Bounds(rows=self._slice_rows, grace=0.0))
        return await self._database.read(lambda tx: rows.due_tombstones(tx, corpus_id))

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda tx: rows.select_orphans(tx, tombstone))

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        for corpus_id in sorted({one.corpus_id for one in tombstones}):
            some = [one for one in tombstones if one.corpus_id == corpus_id]
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(rows.delete_tombstones, tombstones=some))
