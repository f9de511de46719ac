"""The graph as columns of ids, whole or as changes, for snapshots in memory."""

from collections.abc import Collection

from core.errors import NotFound
from core.ports.record import GraphChanges, GraphChunk, GraphRows
from stores.sqlite.database import Connection, Cursor, Database
from stores.sqlite.rows import id_list

__all__ = ["SqliteGraphSource"]

_VISIBLE = """
    FROM chunks c JOIN documents d ON d.corpus_id = c.corpus_id AND d.id = c.document_id
    WHERE c.corpus_id = :corpus AND d.hidden = 0
"""
_AMONG_CHUNKS = " AND c.id IN (SELECT value FROM json_each(:chunks))"


class SqliteGraphSource:
    """Fills `core.ports.record.GraphSource`."""

    def __init__(self, database: Database) -> None:
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
            if since < floor or since > generation:
                return None
            rows = cx.execute(
                "SELECT DISTINCT kind, id FROM changes WHERE corpus_id = ? AND generation > ?", (corpus_id, since)
            ).fetchall()
            chunks = frozenset(row["id"] for row in rows if row["kind"] == "chunk")
            entities = frozenset(row["id"] for row in rows if row["kind"] == "synonyms")
            added = _rows(cx, corpus_id, chunks=chunks, entities=entities)
            return GraphChanges(generation=generation, removed=chunks, added=added, synonyms_of=entities)

        return await self._database.read(work)


def _corpus(cx: Connection, corpus_id: str) -> tuple[int, int]:
    row = cx.execute("SELECT generation, changes_floor FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return int(row[0]), int(row[1])


def _rows(
    cx: Connection, corpus_id: str, *, chunks: Collection[str] | None, entities: Collection[str] | None
) -> GraphRows:
    """Rows of the given chunks, and synonyms of the given entities; None means all."""
    visible = _VISIBLE if chunks is None else _VISIBLE + _AMONG_CHUNKS
    values = {"corpus": corpus_id, "chunks": id_list(chunks or ()), "entities": id_list(entities or ())}

    def select(query: str) -> Cursor:
        cursor = cx.cursor()
        cursor.row_factory = None  # plain tuples: there may be millions
        return cursor.execute(query, values)

    def chunk_rows() -> list[GraphChunk]:
        columns = "c.id, c.document_id, c.view_id, c.position, c.title_names, c.terms"
        return list(map(GraphChunk._make, select(f"SELECT {columns} {visible} ORDER BY c.id")))

    of_visible = f"m.corpus_id = :corpus AND m.chunk_id IN (SELECT c.id {visible})"
    synonyms = "SELECT first_id, second_id, score FROM synonyms WHERE corpus_id = :corpus"
    if entities is not None:
        among = "IN (SELECT value FROM json_each(:entities))"
        synonyms += f" AND (first_id {among} OR second_id {among})"
    return GraphRows(
        chunks=chunk_rows(),
        entities=select(
            f"""
            SELECT e.id, e.name FROM entities e WHERE e.corpus_id = :corpus
            AND e.id IN (SELECT m.entity_id FROM mentions m WHERE {of_visible}) ORDER BY e.id
            """
        ).fetchall(),
        mentions=select(
            f"""
            SELECT m.chunk_id, m.entity_id, sum(m.count) FROM mentions m WHERE {of_visible}
            GROUP BY m.chunk_id, m.entity_id ORDER BY m.chunk_id, m.entity_id
            """
        ).fetchall(),
        facts=select(
            f"SELECT m.chunk_id, m.subject_id, m.object_id FROM facts m WHERE {of_visible} ORDER BY m.chunk_id, m.id"
        ).fetchall(),
        synonyms=select(synonyms + " ORDER BY first_id, second_id").fetchall(),
    )
