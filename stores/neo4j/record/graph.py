"""The graph as columns, whole or as changes, for snapshots in memory."""

import asyncio

from core.ports.record.graph import GraphChanges, GraphRows, GraphRowsBuilder
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.record.graph_reading import changed_since, corpus_state, read_all, read_some

__all__ = ["Neo4jGraphSource"]

_TRIES = 2


class Neo4jGraphSource:
    """Fills `core.ports.record.GraphSource`.

    Neo4j shows a transaction what others commit while it reads. So the generation is asked for before and after; where
    it has moved, what changed meanwhile is read again, under the corpus' lock, so that writers wait for that alone.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def generation(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: corpus_state(tx, corpus_id)[0])

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        def passing(tx: Transaction) -> tuple[int, int, GraphRowsBuilder]:
            before, _ = corpus_state(tx, corpus_id)
            builder = read_all(tx, corpus_id)
            return before, corpus_state(tx, corpus_id)[0], builder

        def settled(tx: Transaction) -> tuple[int, GraphRowsBuilder]:
            now, floor = corpus_state(tx, corpus_id)
            if before < floor:
                return now, read_all(tx, corpus_id)
            changed = changed_since(tx, corpus_id, before)
            builder.drop(changed.chunks, changed.synonyms_of)
            read_some(tx, corpus_id, changed, builder)
            return now, builder

        before, generation, builder = await self._database.read(passing)
        if generation != before:
            generation, builder = await self._database.write(corpus_id, settled)
        return generation, await asyncio.to_thread(builder.rows)

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        for _ in range(_TRIES):
            still, changes = await self._database.read(lambda tx: _changes(tx, corpus_id, since))
            if still:
                return changes
        return (await self._database.write(corpus_id, lambda tx: _changes(tx, corpus_id, since)))[1]


def _changes(tx: Transaction, corpus_id: str, since: int) -> tuple[bool, GraphChanges | None]:
    """The changes, and whether nobody wrote while they were read."""
    generation, floor = corpus_state(tx, corpus_id)
    if since < floor or since > generation:
        return True, None
    changed = changed_since(tx, corpus_id, since)
    builder = GraphRowsBuilder()
    read_some(tx, corpus_id, changed, builder)
    changes = GraphChanges(
        generation=generation, removed=changed.chunks, added=builder.rows(), synonyms_of=changed.synonyms_of
    )
    return corpus_state(tx, corpus_id) == (generation, floor), changes
