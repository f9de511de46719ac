"""The port `GraphSource` in Neo4j: the graph as columns, whole or as changes, for snapshots in memory."""

import asyncio

from core.ports.record.graph import GraphChanges, GraphRows, GraphRowsBuilder
from core.record_policy.change_log import is_covered
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.record.graph_reading import changed_since, corpus_state, read_all, read_some

__all__ = ["Neo4jGraphSource"]

_TRIES = 2


class Neo4jGraphSource:
    """Implements `core.ports.record.GraphSource`.

    A transaction reads what others commit in the meantime. The generation is therefore read before and after the graph.
    If it has changed, the changes are read again under the lock of the corpus, so that writers wait only for these.
    """

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def generation(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: corpus_state(tx, corpus_id)[0])

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        def read(tx: Transaction) -> tuple[int, int, GraphRowsBuilder]:
            before, _ = corpus_state(tx, corpus_id)
            builder = read_all(tx, corpus_id)
            return before, corpus_state(tx, corpus_id)[0], builder

        def read_changes(tx: Transaction) -> tuple[int, GraphRowsBuilder]:
            now, floor = corpus_state(tx, corpus_id)
            if before < floor:
                return now, read_all(tx, corpus_id)
            changed = changed_since(tx, corpus_id, before)
            builder.delete(changed.chunks, changed.synonyms_of)
            read_some(tx, corpus_id, changed, builder)
            return now, builder

        before, generation, builder = await self._database.read(read)
        if generation != before:
            generation, builder = await self._database.write(corpus_id, read_changes)
        return generation, await asyncio.to_thread(builder.build)

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        for _ in range(_TRIES):
            is_consistent, changes = await self._database.read(lambda tx: _changes(tx, corpus_id, since))
            if is_consistent:
                return changes
        return (await self._database.write(corpus_id, lambda tx: _changes(tx, corpus_id, since)))[1]


def _changes(tx: Transaction, corpus_id: str, since: int) -> tuple[bool, GraphChanges | None]:
    """Returns the changes after a generation, and whether no transaction wrote while they were read."""
    generation, floor = corpus_state(tx, corpus_id)
    if not is_covered(since, deleted_up_to=floor, generation=generation):
        return True, None
    changed = changed_since(tx, corpus_id, since)
    builder = GraphRowsBuilder()
    read_some(tx, corpus_id, changed, builder)
    changes = GraphChanges(
        generation=generation, removed=changed.chunks, added=builder.build(), synonyms_of=changed.synonyms_of
    )
    return corpus_state(tx, corpus_id) == (generation, floor), changes
