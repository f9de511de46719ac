"""The graph of a corpus in SQLite: the port that reads it, whole or in part, and the port that merges entities."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.graph import EntityMerge
from core.ids import merge_id
from core.ports.record import GraphMerge
from core.ports.record.graph import GraphChanges, GraphChunk, GraphRows, graph_rows
from core.record_policy.commits import is_covered
from core.record_policy.errors import corpus_missing
from core.record_policy.merges import check_apart, check_merge, entity_missing, merge_missing, select_adoptable
from stores.sqlite.changes import raise_generation
from stores.sqlite.database import Connection, Cursor, SqlitePort, now
from stores.sqlite.packing import unpack_terms
from stores.sqlite.rows import OF_CORPUS, id_list

_CHUNKS = """
    SELECT c.number, lower(hex(c.id)), lower(hex(d.id)), lower(hex(c.view_id)), c.position, unpack_ids(c.title_names),
        c.terms
    FROM corpus_numbers k CROSS JOIN chunk_rows c ON c.corpus = k.number CROSS JOIN document_rows d
        ON d.number = c.document
    WHERE k.id = ? AND d.hidden = 0 AND d.disabled = 0
"""
_ENTITIES = """
    SELECT e.id, e.number, e.name FROM corpus_numbers k CROSS JOIN entity_rows e ON e.corpus = k.number WHERE k.id = ?
"""
_MENTIONS = """
    SELECT m.chunk, f.entity FROM corpus_numbers k
    CROSS JOIN chunk_rows c ON c.corpus = k.number
    CROSS JOIN mention_rows m ON m.chunk = c.number
    CROSS JOIN form_rows f ON f.number = m.form
    WHERE k.id = ?
"""
_FACTS = """
    SELECT f.chunk, f.subject, f.object FROM corpus_numbers k
    CROSS JOIN chunk_rows c ON c.corpus = k.number
    CROSS JOIN fact_rows f ON f.chunk = c.number
    WHERE k.id = ?
"""
_SYNONYMS = "SELECT from_hex(first_id), from_hex(second_id), score FROM synonyms WHERE corpus_id = ?"

_ID = "S16"
_Ints = NDArray[np.int32]


def _read_whole_graph(cx: Connection, corpus_id: str) -> GraphRows:
    """Returns the rows that readers see, without merges. Rows of hidden and disabled documents are left out."""
    numbered = [
        (row[0], GraphChunk._make((*row[1:6], unpack_terms(row[6])))) for row in _select(cx, _CHUNKS, corpus_id)
    ]
    numbered.sort(key=lambda one: one[1].id)
    entities = sorted(_select(cx, _ENTITIES, corpus_id))
    ids = np.array([row[0] for row in entities], _ID)
    chunk_at = _Places(np.array([number for number, _ in numbered], np.int64))
    entity_at = _Places(np.array([row[1] for row in entities], np.int64))

    found = _read(cx, _MENTIONS, corpus_id, chunk=np.int64, entity=np.int64)
    mentions = _table(chunk_at.of(found["chunk"]), entity_at.of(found["entity"]))
    found = _read(cx, _FACTS, corpus_id, chunk=np.int64, subject=_ID, object=_ID)
    by_id = _Places(ids)
    facts = _table(chunk_at.of(found["chunk"]), by_id.of(found["subject"]), by_id.of(found["object"]))
    found = _read(cx, _SYNONYMS, corpus_id, first=_ID, second=_ID, score=np.float32)
    pairs = np.stack([by_id.of(found["first"]), by_id.of(found["second"])], axis=1)
    linked = (pairs >= 0).all(axis=1)

    named = np.zeros(len(entities), np.bool_)
    for column in (mentions[:, 1], facts[:, 1:].ravel(), pairs[linked].ravel()):
        named[column] = True
    to = np.cumsum(named) - 1
    return GraphRows(
        chunks=[chunk for _, chunk in numbered],
        entity_ids=np.array([row[0].hex() for row, kept in zip(entities, named, strict=True) if kept], "S32"),
        names=[row[2] for row, kept in zip(entities, named, strict=True) if kept],
        mentions=_each_once(np.stack([mentions[:, 0], to[mentions[:, 1]]], axis=1)),
        facts=np.stack([facts[:, 0], to[facts[:, 1]], to[facts[:, 2]]], axis=1).astype(np.int32),
        synonyms=to[pairs[linked]].astype(np.int32),
        scores=found["score"][linked],
    )


class _Places:
    """Where each of some different values stands in their array."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def of(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the place of each wanted value; -1 for a missing value."""
        if not len(self._sorted):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[at] == wanted, self._order[at], -1)


def _read(cx: Connection, query: str, corpus_id: str, **columns: Any) -> NDArray[Any]:
    """Returns rows as an array of structures."""
    return np.fromiter(_select(cx, query, corpus_id), np.dtype(list(columns.items())))


def _select(cx: Connection, query: str, corpus_id: str) -> Cursor:
    cursor = cx.cursor()
    cursor.row_factory = None  # plain tuples: there may be millions
    return cursor.execute(query, (corpus_id,))


def _table(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the rows all of whose places are known."""
    table = np.stack(columns, axis=1)
    return table[(table >= 0).all(axis=1)]


def _each_once(pairs: NDArray[np.int64]) -> _Ints:
    keys = np.unique(pairs[:, 0] << 32 | pairs[:, 1])
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1).astype(np.int32)


_VISIBLE = """
    FROM chunks c JOIN document_rows d ON d.number = c.document
    WHERE c.corpus_id = :corpus AND d.hidden = 0 AND d.disabled = 0
"""
_CHUNK = "c.id, c.document_id, c.view_id, c.position, c.title_names, c.terms"

_CHANGED = "IN (SELECT from_hex(value) FROM json_each(:chunks))"
_TOUCHED = "IN (SELECT value FROM json_each(:entities))"
_CHANGED_ENTITIES = f"""
    SELECT raw_entity_id FROM mentions WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
    UNION SELECT subject FROM facts WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
    UNION SELECT object FROM facts WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
    UNION SELECT from_hex(second_id) FROM synonyms WHERE corpus_id = :corpus AND first_id {_TOUCHED}
    UNION SELECT from_hex(first_id) FROM synonyms WHERE corpus_id = :corpus AND second_id {_TOUCHED}
    UNION SELECT from_hex(value) FROM json_each(:entities)
"""


class SqliteGraphSource(SqlitePort):
    """Implements `core.ports.record.GraphSource`."""

    async def generation(self, corpus_id: str) -> int:
        return await self._database.read(lambda cx: _corpus(cx, corpus_id)[0])

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        def work(cx: Connection) -> tuple[int, GraphRows]:
            generation, _ = _corpus(cx, corpus_id)
            return generation, replace(_read_whole_graph(cx, corpus_id), merges=_read_merges(cx, corpus_id))

        return await self._database.read(work)

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        def work(cx: Connection) -> GraphChanges | None:
            generation, floor = _corpus(cx, corpus_id)
            if not is_covered(since, deleted_up_to=floor, generation=generation):
                return None
            rows = cx.execute(
                f"SELECT DISTINCT synonyms, id FROM change_rows WHERE {OF_CORPUS} AND generation > ?",
                (corpus_id, since),
            ).fetchall()
            chunks = frozenset(row["id"].hex() for row in rows if not row["synonyms"])
            entities = frozenset(row["id"].hex() for row in rows if row["synonyms"])
            if chunks or entities:
                added = _rows(cx, corpus_id, chunks=chunks, entities=entities)
            else:  # SQLite would read all entities to find none
                added = replace(graph_rows(), merges=_read_merges(cx, corpus_id))
            return GraphChanges(generation=generation, removed=chunks, added=added, synonyms_of=entities)

        return await self._database.read(work)

    async def count_changes(self, corpus_id: str, since: int) -> int:
        def work(cx: Connection) -> int:
            _corpus(cx, corpus_id)
            query = f"SELECT count(*) FROM change_rows WHERE {OF_CORPUS} AND generation > ? AND NOT synonyms"
            return int(cx.execute(query, (corpus_id, since)).fetchone()[0])

        return await self._database.read(work)


def _corpus(cx: Connection, corpus_id: str) -> tuple[int, int]:
    row = cx.execute("SELECT generation, changes_floor FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise corpus_missing(corpus_id)
    return int(row[0]), int(row[1])


def _rows(cx: Connection, corpus_id: str, *, chunks: Collection[str], entities: Collection[str]) -> GraphRows:
    """Returns the rows of the given chunks, and the synonyms of the given entities."""
    values = {"corpus": corpus_id, "chunks": id_list(chunks), "entities": id_list(entities)}

    def select(query: str) -> Cursor:
        cursor = cx.cursor()
        cursor.row_factory = None
        return cursor.execute(query, values)

    of_chunks = f"WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}"
    rows = graph_rows(
        chunks=map(GraphChunk._make, select(f"SELECT {_CHUNK} {_VISIBLE} AND c.raw_id {_CHANGED}")),
        entities=select(f"SELECT id, name FROM entities WHERE corpus_id = :corpus AND raw_id IN ({_CHANGED_ENTITIES})"),
        mentions=select(f"SELECT DISTINCT chunk_id, entity_id FROM mentions {of_chunks}"),
        facts=select(f"SELECT chunk_id, subject_id, object_id FROM facts {of_chunks}"),
        synonyms=select(
            f"""
            SELECT first_id, second_id, score FROM synonyms
            WHERE corpus_id = :corpus AND (first_id {_TOUCHED} OR second_id {_TOUCHED})
            """
        ),
    )
    return replace(rows, merges=_read_merges(cx, corpus_id))


class SqliteEntityMerges(SqlitePort):
    """Implements `core.ports.record.EntityMerges`."""

    async def merge(self, corpus_id: str, from_id: str, into_id: str, *, automatic: bool = False) -> EntityMerge:
        def work(cx: Connection) -> EntityMerge:
            raise_generation(cx, corpus_id)
            present = _present(cx, corpus_id)
            check_merge(present, from_id, into_id)
            if automatic:
                check_apart(present, _read_rejected(cx, corpus_id), from_id, into_id)
            names = [name_entity(cx, corpus_id, id) for id in (from_id, into_id)]
            _insert(cx, corpus_id, [GraphMerge(from_id, names[0], into_id, names[1])], automatic=automatic)
            return _find(cx, corpus_id, merge_id(from_id, into_id))

        return await self._database.write(work)

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        def work(cx: Connection) -> EntityMerge:
            raise_generation(cx, corpus_id)
            found = _find(cx, corpus_id, merge_id)
            for table in ("merges", "automatic_merges"):
                cx.execute(f"DELETE FROM {table} WHERE corpus_id = ? AND from_id = ?", (corpus_id, found.from_id))
            return found

        return await self._database.write(work)

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        return await self._database.read(lambda cx: _list(cx, corpus_id))

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        def work(cx: Connection) -> Sequence[GraphMerge]:
            added, refused = select_adoptable(_present(cx, corpus_id), merges)
            if added:
                raise_generation(cx, corpus_id)
                _insert(cx, corpus_id, added)
            return refused

        return await self._database.write(work)


def _read_merges(cx: Connection, corpus_id: str) -> tuple[GraphMerge, ...]:
    """Returns the merges by the id of the merged entity."""
    rows = cx.execute(
        "SELECT from_id, from_name, into_id, into_name FROM merges WHERE corpus_id = ? ORDER BY from_id", (corpus_id,)
    )
    return tuple(GraphMerge(*row) for row in rows)


def _read_rejected(cx: Connection, corpus_id: str) -> list[tuple[str, str]]:
    rows = cx.execute("SELECT first_id, second_id FROM rejections WHERE corpus_id = ?", (corpus_id,))
    return [(first_id, second_id) for first_id, second_id in rows]


def copy_merges(cx: Connection, from_corpus: str, to_corpus: str) -> None:
    """Copies the merges of a corpus to a corpus without merges."""
    copied = cx.execute(
        """
        INSERT INTO merges (corpus_id, from_id, from_name, into_id, into_name, merged_at)
        SELECT ?, from_id, from_name, into_id, into_name, merged_at FROM merges WHERE corpus_id = ?
        """,
        (to_corpus, from_corpus),
    )
    cx.execute(
        "INSERT INTO automatic_merges SELECT ?, from_id FROM automatic_merges WHERE corpus_id = ?",
        (to_corpus, from_corpus),
    )
    if copied.rowcount:
        raise_generation(cx, to_corpus)


def _present(cx: Connection, corpus_id: str) -> Mapping[str, str]:
    return {merge.from_id: merge.into_id for merge in _read_merges(cx, corpus_id)}


def name_entity(cx: Connection, corpus_id: str, entity_id: str) -> str:
    """Returns the normalised name of an entity. Raises `NotFound` if no passage mentions it."""
    row = cx.execute(
        "SELECT name FROM entities WHERE corpus_id = ? AND raw_id = from_hex(?)", (corpus_id, entity_id)
    ).fetchone()
    if row is None:
        raise entity_missing(entity_id)
    return str(row["name"])


def _insert(cx: Connection, corpus_id: str, merges: Sequence[GraphMerge], *, automatic: bool = False) -> None:
    cx.executemany(
        "INSERT INTO merges (corpus_id, from_id, from_name, into_id, into_name, merged_at) VALUES (?, ?, ?, ?, ?, ?)",
        [(corpus_id, *merge, now()) for merge in merges],
    )
    if automatic:
        rows = [(corpus_id, merge.from_id) for merge in merges]
        cx.executemany("INSERT INTO automatic_merges (corpus_id, from_id) VALUES (?, ?)", rows)


def delete_automatic_merges(cx: Connection, corpus_id: str, entity_ids: Sequence[str]) -> None:
    """Deletes the automatic merges that one of these entities is part of."""
    ended = {
        row["from_id"]
        for row in cx.execute(
            """
            SELECT from_id FROM automatic_merges a CROSS JOIN merges m USING (corpus_id, from_id)
            WHERE corpus_id = ?1 AND (from_id IN (SELECT value FROM json_each(?2))
                OR into_id IN (SELECT value FROM json_each(?2)))
            """,
            (corpus_id, id_list(entity_ids)),
        )
    }
    for table in ("merges", "automatic_merges"):
        cx.executemany(
            f"DELETE FROM {table} WHERE corpus_id = ? AND from_id = ?", [(corpus_id, id) for id in sorted(ended)]
        )


def _list(cx: Connection, corpus_id: str) -> list[EntityMerge]:
    if cx.execute("SELECT 1 FROM corpora WHERE id = ?", (corpus_id,)).fetchone() is None:
        raise corpus_missing(corpus_id)
    rows = cx.execute(
        """
        SELECT m.*, EXISTS (SELECT 1 FROM automatic_merges a WHERE a.corpus_id = m.corpus_id AND a.from_id = m.from_id)
            AS automatic
        FROM merges m WHERE m.corpus_id = ? ORDER BY m.merged_at DESC, m.from_id
        """,
        (corpus_id,),
    )
    return [_merge_from_row(row) for row in rows]


def _find(cx: Connection, corpus_id: str, id: str) -> EntityMerge:
    for merge in _list(cx, corpus_id):
        if merge.id == id:
            return merge
    raise merge_missing(id)


def _merge_from_row(row: sqlite3.Row) -> EntityMerge:
    return EntityMerge(
        id=merge_id(row["from_id"], row["into_id"]),
        from_id=row["from_id"],
        from_name=row["from_name"],
        into_id=row["into_id"],
        into_name=row["into_name"],
        merged_at=datetime.fromtimestamp(row["merged_at"], UTC),
        automatic=bool(row["automatic"]),
    )
