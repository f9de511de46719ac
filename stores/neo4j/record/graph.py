"""The graph of a corpus in Neo4j: the ports that read it, whole or as changes, and that merge entities.

The functions of a transaction come first: they read the graph into columns, and read and write merges.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from core.graph import EntityMerge
from core.ids import merge_id
from core.ports.record.graph import GraphChanges, GraphChunk, GraphMerge, GraphRows, GraphRowsBuilder
from core.record_policy.commits import is_covered
from core.record_policy.errors import corpus_missing
from core.record_policy.merges import check_apart, check_merge, merge_missing, select_adoptable
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Transaction, batches, statements
from stores.neo4j.record.change_log import raise_generation
from stores.neo4j.resolution import name_entities, read_rejected

_CYPHER = statements("graph")
_CHUNKS_AT_ONCE = 500  # with some dozens of rows each
_TRIES = 2


class Changed(NamedTuple):
    """The ids of chunks that were inserted, updated or deleted, and of entities whose synonyms were."""

    chunks: frozenset[str]
    synonyms_of: frozenset[str]


def _corpus_state(tx: Transaction, corpus_id: str) -> tuple[int, int]:
    """Returns the generation, and the generation up to which changes are no longer kept.

    Raises `NotFound` if there is no such corpus.
    """
    row = tx.row(_CYPHER["corpus"], corpus=corpus_id)
    if row is None:
        raise corpus_missing(corpus_id)
    return row["generation"], row["floor"]


def _changed_since(tx: Transaction, corpus_id: str, since: int) -> Changed:
    rows = tx.rows(_CYPHER["changed"], corpus=corpus_id, since=since)
    return Changed(
        chunks=frozenset(id for row in rows for id in row["chunks"]),
        synonyms_of=frozenset(id for row in rows for id in row["synonyms"]),
    )


def _read_all(tx: Transaction, corpus_id: str) -> GraphRowsBuilder:
    """Reads the whole graph. It may hold parts of what is committed in the meantime."""
    builder = GraphRowsBuilder()
    numbers = _entities(builder, tx.stream(_CYPHER["entities"], corpus=corpus_id))
    _chunks(builder, numbers, tx.stream(_CYPHER["chunks"], corpus=corpus_id))
    _synonyms(builder, numbers, tx.stream(_CYPHER["synonyms"], corpus=corpus_id))
    return builder


def _read_some(tx: Transaction, corpus_id: str, changed: Changed, builder: GraphRowsBuilder) -> None:
    """Adds the changed chunks that readers still see, and the synonyms of the entities."""
    for batch in batches(_uids(corpus_id, changed.chunks), _CHUNKS_AT_ONCE):
        rows = list(tx.stream(_CYPHER["some_chunks"], rows=batch))
        used = {number for *_, mentions, facts in rows for number in (*mentions, *(n for fact in facts for n in fact))}
        _chunks(builder, _add_entities(tx, used, builder), rows)
    seen: dict[tuple[int, int], float] = {}
    for batch in batches(_uids(corpus_id, changed.synonyms_of)):
        seen.update(
            ((first, second), score) for first, second, score in tx.stream(_CYPHER["some_synonyms"], rows=batch)
        )
    numbers = _add_entities(tx, {number for pair in seen for number in pair}, builder)
    _synonyms(builder, numbers, ((*pair, score) for pair, score in seen.items()))


def _uids(corpus_id: str, ids: Collection[str]) -> list[str]:
    return [uid_of(corpus_id, id) for id in sorted(ids)]


def _add_entities(tx: Transaction, server_numbers: Collection[int], builder: GraphRowsBuilder) -> dict[int, int]:
    """Adds the entities with these numbers of the server. Returns their places in the columns by number."""
    numbers: dict[int, int] = {}
    for batch in batches(sorted(server_numbers)):
        numbers |= _entities(builder, tx.stream(_CYPHER["some_entities"], rows=batch))
    return numbers


def _entities(builder: GraphRowsBuilder, rows: Iterator[Sequence[Any]]) -> dict[int, int]:
    return {number: builder.add_entity(id, name) for number, id, name in rows}


def _chunks(builder: GraphRowsBuilder, numbers: dict[int, int], rows: Iterable[Sequence[Any]]) -> None:
    """Adds chunks with their graph. A chunk that mentions an entity without a place was changed, and is read again."""
    for *row, mentions, facts in rows:
        chunk = builder.add_chunk(GraphChunk(*row))
        for entity in mentions:
            if entity in numbers:
                builder.add_mention(chunk, numbers[entity])
        for subject, object_ in facts:
            if subject in numbers and object_ in numbers:
                builder.add_fact(chunk, numbers[subject], numbers[object_])


def _synonyms(builder: GraphRowsBuilder, numbers: dict[int, int], rows: Iterable[Sequence[Any]]) -> None:
    for first, second, score in rows:
        if first in numbers and second in numbers:
            builder.add_synonym(numbers[first], numbers[second], score)


def _read_merges(tx: Transaction, corpus_id: str) -> tuple[GraphMerge, ...]:
    """Returns the merges by the id of the merged entity."""
    return tuple(GraphMerge(*row[:4]) for row in tx.stream(statements("merges")["all"], prefix=uid_of(corpus_id, "")))


def _read_entity_merges(tx: Transaction, corpus_id: str) -> list[EntityMerge]:
    """Returns the merges, the newest first."""
    found = [
        EntityMerge(
            id=merge_id(from_id, into_id),
            from_id=from_id,
            from_name=from_name,
            into_id=into_id,
            into_name=into_name,
            merged_at=datetime.fromtimestamp(merged_at, UTC),
            automatic=automatic,
        )
        for from_id, from_name, into_id, into_name, merged_at, automatic in tx.stream(
            statements("merges")["all"], prefix=uid_of(corpus_id, "")
        )
    ]
    return sorted(found, key=lambda merge: merge.merged_at, reverse=True)


def _add_merge(tx: Transaction, corpus_id: str, from_id: str, into_id: str, *, automatic: bool) -> EntityMerge:
    """Writes a merge. Raises as `EntityMerges.merge` does. The caller holds the lock of the corpus."""
    present = _present(tx, corpus_id)
    check_merge(present, from_id, into_id)
    if automatic:
        check_apart(present, read_rejected(tx, corpus_id), from_id, into_id)
    names = name_entities(tx, corpus_id, [from_id, into_id])
    _create(tx, corpus_id, [GraphMerge(from_id, names[from_id], into_id, names[into_id])], automatic=automatic)
    return _find(tx, corpus_id, merge_id(from_id, into_id))


def _delete_merge(tx: Transaction, corpus_id: str, id: str) -> EntityMerge:
    """Deletes a merge, and returns it. Raises `NotFound`. The caller holds the lock of the corpus."""
    found = _find(tx, corpus_id, id)
    tx.run(statements("merges")["delete"], uid=uid_of(corpus_id, found.from_id))
    raise_generation(tx, corpus_id)
    return found


def _adopt_merges(tx: Transaction, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
    """Writes merges as `EntityMerges.adopt` does. The caller holds the lock of the corpus."""
    added, refused = select_adoptable(_present(tx, corpus_id), merges)
    if added:
        _create(tx, corpus_id, added)
    return refused


def copy_merges(tx: Transaction, from_corpus: str, to_corpus: str) -> None:
    """Copies the merges of a corpus to a corpus without merges. The caller holds the locks of both corpora."""
    [row] = tx.rows(statements("merges")["copy"], prefix=uid_of(from_corpus, ""), to=to_corpus)
    if row["copied"]:
        raise_generation(tx, to_corpus)


def _present(tx: Transaction, corpus_id: str) -> Mapping[str, str]:
    return {merge.from_id: merge.into_id for merge in _read_merges(tx, corpus_id)}


def _create(tx: Transaction, corpus_id: str, merges: Sequence[GraphMerge], *, automatic: bool = False) -> None:
    rows = [merge._asdict() for merge in merges]
    tx.run(statements("merges")["create"], corpus_id=corpus_id, rows=rows, automatic=automatic)
    raise_generation(tx, corpus_id)


def _find(tx: Transaction, corpus_id: str, id: str) -> EntityMerge:
    for merge in _read_entity_merges(tx, corpus_id):
        if merge.id == id:
            return merge
    raise merge_missing(id)


class Neo4jGraphSource(Neo4jPort):
    """Implements `core.ports.record.GraphSource`.

    A transaction reads what others commit in the meantime. The generation is therefore read before and after the graph.
    If it has changed, the changes are read again under the lock of the corpus, so that writers wait only for these.
    """

    async def generation(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: _corpus_state(tx, corpus_id)[0])

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        def read(tx: Transaction) -> tuple[int, int, GraphRowsBuilder, tuple[GraphMerge, ...]]:
            before, _ = _corpus_state(tx, corpus_id)
            builder, merges = _read_all(tx, corpus_id), _read_merges(tx, corpus_id)
            return before, _corpus_state(tx, corpus_id)[0], builder, merges

        def read_changes(tx: Transaction) -> tuple[int, GraphRowsBuilder, tuple[GraphMerge, ...]]:
            now, floor = _corpus_state(tx, corpus_id)
            merges = _read_merges(tx, corpus_id)
            if before < floor:
                return now, _read_all(tx, corpus_id), merges
            changed = _changed_since(tx, corpus_id, before)
            builder.delete(changed.chunks, changed.synonyms_of)
            _read_some(tx, corpus_id, changed, builder)
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
            _corpus_state(tx, corpus_id)
            return int(tx.rows(_CYPHER["count_changed"], corpus=corpus_id, since=since)[0]["chunks"])

        return await self._database.read(work)


class Neo4jEntityMerges(Neo4jPort):
    """Implements `core.ports.record.EntityMerges`."""

    async def merge(self, corpus_id: str, from_id: str, into_id: str, *, automatic: bool = False) -> EntityMerge:
        return await self._database.write(
            corpus_id, lambda tx: _add_merge(tx, corpus_id, from_id, into_id, automatic=automatic)
        )

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        return await self._database.write(corpus_id, lambda tx: _delete_merge(tx, corpus_id, merge_id))

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        def work(tx: Transaction) -> Sequence[EntityMerge]:
            _corpus_state(tx, corpus_id)
            return _read_entity_merges(tx, corpus_id)

        return await self._database.read(work)

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        return await self._database.write(corpus_id, lambda tx: _adopt_merges(tx, corpus_id, merges))


def _changes(tx: Transaction, corpus_id: str, since: int) -> tuple[bool, GraphChanges | None]:
    """Returns the changes after a generation, and whether no transaction wrote while they were read."""
    generation, floor = _corpus_state(tx, corpus_id)
    if not is_covered(since, deleted_up_to=floor, generation=generation):
        return True, None
    changed = _changed_since(tx, corpus_id, since)
    builder = GraphRowsBuilder()
    _read_some(tx, corpus_id, changed, builder)
    added = replace(builder.build(), merges=_read_merges(tx, corpus_id))
    changes = GraphChanges(generation=generation, removed=changed.chunks, added=added, synonyms_of=changed.synonyms_of)
    return _corpus_state(tx, corpus_id) == (generation, floor), changes
