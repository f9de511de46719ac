"""The ports of the graph in Neo4j: its columns, whole or as changes, for snapshots in memory; merges of entities."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from core.graph import EntityMerge
from core.ports.record.graph import GraphChanges, GraphMerge, GraphRows, GraphRowsBuilder
from core.record_policy.change_log import is_covered
from stores.neo4j.commit.merges import add_merge, adopt_merges, delete_merge, read_entity_merges, read_merges
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.record.graph_reading import changed_since, corpus_state, read_all, read_some

__all__ = ["Neo4jEntityMerges", "Neo4jGraphSource"]

_CYPHER = statements("graph")
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
        def read(tx: Transaction) -> tuple[int, int, GraphRowsBuilder, tuple[GraphMerge, ...]]:
            before, _ = corpus_state(tx, corpus_id)
            builder, merges = read_all(tx, corpus_id), read_merges(tx, corpus_id)
            return before, corpus_state(tx, corpus_id)[0], builder, merges

        def read_changes(tx: Transaction) -> tuple[int, GraphRowsBuilder, tuple[GraphMerge, ...]]:
            now, floor = corpus_state(tx, corpus_id)
            merges = read_merges(tx, corpus_id)
            if before < floor:
                return now, read_all(tx, corpus_id), merges
            changed = changed_since(tx, corpus_id, before)
            builder.delete(changed.chunks, changed.synonyms_of)
            read_some(tx, corpus_id, changed, builder)
            return now, builder, merges

        before, generation, builder, merges = await self._database.read(read)
        if generation != before:
            generation, builder, merges = await self._database.write(corpus_id, read_changes)
        return generation, replace(await asyncio.to_thread(builder.build), merges=merges)

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        for _ in range(_TRIES):
            is_consistent, changes = await self._database.read(lambda tx: _changes(tx, corpus_id, since))
            if is_consistent:
                return changes
        return (await self._database.write(corpus_id, lambda tx: _changes(tx, corpus_id, since)))[1]

    async def count_changes(self, corpus_id: str, since: int) -> int:
        def work(tx: Transaction) -> int:
            corpus_state(tx, corpus_id)
            return int(tx.rows(_CYPHER["count_changed"], corpus=corpus_id, since=since)[0]["chunks"])

        return await self._database.read(work)


class Neo4jEntityMerges:
    """Implements `core.ports.record.EntityMerges`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def merge(self, corpus_id: str, from_id: str, into_id: str) -> EntityMerge:
        return await self._database.write(corpus_id, lambda tx: add_merge(tx, corpus_id, from_id, into_id))

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        return await self._database.write(corpus_id, lambda tx: delete_merge(tx, corpus_id, merge_id))

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        def work(tx: Transaction) -> Sequence[EntityMerge]:
            corpus_state(tx, corpus_id)
            return read_entity_merges(tx, corpus_id)

        return await self._database.read(work)

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        return await self._database.write(corpus_id, lambda tx: adopt_merges(tx, corpus_id, merges))


def _changes(tx: Transaction, corpus_id: str, since: int) -> tuple[bool, GraphChanges | None]:
    """Returns the changes after a generation, and whether no transaction wrote while they were read."""
    generation, floor = corpus_state(tx, corpus_id)
    if not is_covered(since, deleted_up_to=floor, generation=generation):
        return True, None
    changed = changed_since(tx, corpus_id, since)
    builder = GraphRowsBuilder()
    read_some(tx, corpus_id, changed, builder)
    added = replace(builder.build(), merges=read_merges(tx, corpus_id))
    changes = GraphChanges(generation=generation, removed=changed.chunks, added=added, synonyms_of=changed.synonyms_of)
    return corpus_state(tx, corpus_id) == (generation, floor), changes
