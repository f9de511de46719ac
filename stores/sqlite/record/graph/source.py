"""The port of the graph in SQLite: the rows of a corpus, whole or as changes."""

from collections.abc import Collection
from dataclasses import replace

from core.ports.record.graph import GraphChanges, GraphChunk, GraphRows, graph_rows
from core.record_policy.change_log import is_covered
from core.record_policy.errors import corpus_missing
from stores.sqlite.database import Connection, Cursor, SqliteDatabase
from stores.sqlite.numbers import OF_CORPUS
from stores.sqlite.record.graph.merges import read_merges
from stores.sqlite.record.graph.whole_graph import read_whole_graph
from stores.sqlite.rows import id_list

__all__ = ["SqliteGraphSource"]

_VISIBLE = """
    FROM chunks c JOIN document_rows d ON d.number = c.document
    WHERE c.corpus_id = :corpus AND d.hidden = 0 AND d.disabled = 0
"""
_CHUNK = "c.id, c.document_id, c.view_id, c.position, c.title_names, c.terms"

_CHANGED = "IN (SELECT from_hex(value) FROM json_each(:chunks))"
_TOUCHED = "IN (SELECT value FROM json_each(:entities))"
_ENTITIES = f"""
    SELECT raw_entity_id FROM mentions WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
    UNION SELECT subject FROM facts WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
    UNION SELECT object FROM facts WHERE corpus_id = :corpus AND raw_chunk_id {_CHANGED}
    UNION SELECT from_hex(second_id) FROM synonyms WHERE corpus_id = :corpus AND first_id {_TOUCHED}
    UNION SELECT from_hex(first_id) FROM synonyms WHERE corpus_id = :corpus AND second_id {_TOUCHED}
    UNION SELECT from_hex(value) FROM json_each(:entities)
"""


class SqliteGraphSource:
    """Implements `core.ports.record.GraphSource`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def generation(self, corpus_id: str) -> int:
        return await self._database.read(lambda cx: _corpus(cx, corpus_id)[0])

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        def work(cx: Connection) -> tuple[int, GraphRows]:
            generation, _ = _corpus(cx, corpus_id)
            return generation, replace(read_whole_graph(cx, corpus_id), merges=read_merges(cx, corpus_id))

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
        entities=select(f"SELECT id, name FROM entities WHERE corpus_id = :corpus AND raw_id IN ({_ENTITIES})"),
        mentions=select(f"SELECT DISTINCT chunk_id, entity_id FROM mentions {of_chunks}"),
        facts=select(f"SELECT chunk_id, subject_id, object_id FROM facts {of_chunks}"),
        synonyms=select(
            f"""
            SELECT first_id, second_id, score FROM synonyms
            WHERE corpus_id = :corpus AND (first_id {_TOUCHED} OR second_id {_TOUCHED})
            """
        ),
    )
    return replace(rows, merges=read_merges(cx, corpus_id))
