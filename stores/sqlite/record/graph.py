"""The port of the graph in SQLite: the rows of a corpus, whole or as changes."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from core.ports.record.graph import GraphChanges, GraphChunk, GraphRows, graph_rows
from core.record_policy.change_log import is_covered
from core.record_policy.errors import corpus_missing
from stores.sqlite.database import Connection, Cursor, SqliteDatabase
from stores.sqlite.numbers import OF_CORPUS
from stores.sqlite.record.merges import read_merges
from stores.sqlite.rows import id_list

__all__ = ["SqliteGraphSource"]

_VISIBLE = """
    FROM chunks c JOIN document_rows d ON d.number = c.document
    WHERE c.corpus_id = :corpus AND d.hidden = 0 AND d.disabled = 0
"""
_CHUNK = "c.id, c.document_id, c.view_id, c.position, c.title_names, c.terms"


class _Conditions(NamedTuple):
    """The conditions on the rows of each kind. `graph_rows` leaves out the rows of invisible chunks."""

    chunks: str = ""
    entities: str = ""
    rows: str = ""
    synonyms: str = ""


_MENTIONS = """
    SELECT lower(hex(c.id)), lower(hex(e.id)) FROM corpus_numbers k
    CROSS JOIN chunk_rows c ON c.corpus = k.number
    CROSS JOIN mention_rows m ON m.chunk = c.number
    CROSS JOIN form_rows f ON f.number = m.form
    CROSS JOIN entity_rows e ON e.number = f.entity
    WHERE k.id = :corpus
"""
"""All mentions, one chunk after the other. The two of a chunk in different forms come twice."""

_CHANGED = "IN (SELECT from_hex(value) FROM json_each(:chunks))"
_TOUCHED = "IN (SELECT value FROM json_each(:entities))"
_ALL = _Conditions()
_PART = _Conditions(
    chunks=f"AND c.raw_id {_CHANGED}",
    entities=f"""
    AND raw_id IN (
        SELECT raw_entity_id FROM mentions WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
        UNION SELECT subject FROM facts WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
        UNION SELECT object FROM facts WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
        UNION SELECT from_hex(second_id) FROM synonyms WHERE corpus_id = :corpus AND first_id {_TOUCHED}
        UNION SELECT from_hex(first_id) FROM synonyms WHERE corpus_id = :corpus AND second_id {_TOUCHED}
        UNION SELECT from_hex(value) FROM json_each(:entities)
    )
    """,
    rows=f"AND raw_chunk_id {_CHANGED}",
    synonyms=f"AND (first_id {_TOUCHED} OR second_id {_TOUCHED})",
)


class SqliteGraphSource:
    """Implements `core.ports.record.GraphSource`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def generation(self, corpus_id: str) -> int:
        return await self._database.read(lambda cx: _corpus(cx, corpus_id)[0])

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        def work(cx: Connection) -> tuple[int, GraphRows]:
            generation, _ = _corpus(cx, corpus_id)
            return generation, _rows(cx, corpus_id, chunks=None, entities=None)

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
                added = replace(graph_rows(), merges=read_merges(cx, corpus_id))
            return GraphChanges(generation=generation, removed=chunks, added=added, synonyms_of=entities)

        return await self._database.read(work)


def _corpus(cx: Connection, corpus_id: str) -> tuple[int, int]:
    row = cx.execute("SELECT generation, changes_floor FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise corpus_missing(corpus_id)
    return int(row[0]), int(row[1])


def _rows(
    cx: Connection, corpus_id: str, *, chunks: Collection[str] | None, entities: Collection[str] | None
) -> GraphRows:
    """Returns the rows of the given chunks, and the synonyms of the given entities; None means all."""
    values = {"corpus": corpus_id, "chunks": id_list(chunks or ()), "entities": id_list(entities or ())}

    def select(query: str) -> Cursor:
        cursor = cx.cursor()
        cursor.row_factory = None  # plain tuples: there may be millions
        return cursor.execute(query, values)

    part = _ALL if chunks is None else _PART
    rows = graph_rows(
        chunks=map(GraphChunk._make, select(f"SELECT {_CHUNK} {_VISIBLE} {part.chunks}")),
        entities=select(f"SELECT id, name FROM entities WHERE corpus_id = :corpus {part.entities}"),
        mentions=_distinct(select(_MENTIONS))
        if chunks is None
        else select(f"SELECT DISTINCT chunk_id, entity_id FROM mentions WHERE corpus_id = :corpus {part.rows}"),
        facts=select(f"SELECT chunk_id, subject_id, object_id FROM facts WHERE corpus_id = :corpus {part.rows}"),
        synonyms=select(f"SELECT first_id, second_id, score FROM synonyms WHERE corpus_id = :corpus {part.synonyms}"),
    )
    return replace(rows, merges=read_merges(cx, corpus_id))


def _distinct(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yields each pair of chunk and entity once. The pairs of a chunk follow each other."""
    current, seen = "", set[str]()
    for chunk, entity in pairs:
        if chunk != current:
            current, seen = chunk, set()
        if entity not in seen:
            seen.add(entity)
            yield chunk, entity
