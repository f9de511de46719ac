"""Reading the graph, or parts of it, into columns."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from core.ports.record.graph import GraphChunk, GraphRowsBuilder
from core.record_policy.errors import corpus_missing
from stores.neo4j.driver.database import Transaction, batches
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.statements import statements

__all__ = ["Changed", "changed_since", "corpus_state", "read_all", "read_some"]

_CYPHER = statements("graph")
_CHUNKS_AT_ONCE = 500  # with some dozens of rows each


class Changed(NamedTuple):
    """The ids of chunks that were inserted, updated or deleted, and of entities whose synonyms were."""

    chunks: frozenset[str]
    synonyms_of: frozenset[str]


def corpus_state(tx: Transaction, corpus_id: str) -> tuple[int, int]:
    """Returns the generation, and the one up to which changes are no longer kept.

    Raises `NotFound` if there is no such corpus.
    """
    row = tx.row(_CYPHER["corpus"], corpus=corpus_id)
    if row is None:
        raise corpus_missing(corpus_id)
    return row["generation"], row["floor"]


def changed_since(tx: Transaction, corpus_id: str, since: int) -> Changed:
    rows = tx.rows(_CYPHER["changed"], corpus=corpus_id, since=since)
    return Changed(
        chunks=frozenset(id for row in rows for id in row["chunks"]),
        synonyms_of=frozenset(id for row in rows for id in row["synonyms"]),
    )


def read_all(tx: Transaction, corpus_id: str) -> GraphRowsBuilder:
    """Reads the whole graph. It may hold parts of what is committed in the meantime."""
    builder = GraphRowsBuilder()
    numbers = _entities(builder, tx.stream(_CYPHER["entities"], corpus=corpus_id))
    _chunks(builder, numbers, tx.stream(_CYPHER["chunks"], corpus=corpus_id))
    _synonyms(builder, numbers, tx.stream(_CYPHER["synonyms"], corpus=corpus_id))
    return builder


def read_some(tx: Transaction, corpus_id: str, changed: Changed, builder: GraphRowsBuilder) -> None:
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
