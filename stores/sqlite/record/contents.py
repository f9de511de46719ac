"""The port of the contents of documents in SQLite: chunks, entities, facts and triples."""

from collections.abc import Collection, Mapping
from typing import Any

from core.documents import Chunk
from core.graph import Entity
from core.ports.record import FactRow, TripleRow
from stores.sqlite.database import Connection, SqliteDatabase
from stores.sqlite.rows import chunk_from_row, id_list

__all__ = ["DISPLAY", "SqliteContents"]

_CHUNKS = """
    SELECT c.* FROM chunks c JOIN document_rows d ON d.number = c.document
    WHERE c.corpus_id = :corpus AND d.hidden = 0
"""

# In subqueries on `e`, CROSS JOIN keeps the order of the tables: else SQLite reads all chunks for each row.
DISPLAY = """(
    SELECT f.form FROM form_rows f WHERE f.entity = e.number
    ORDER BY f.count DESC, f.form LIMIT 1
)"""
"""The most frequent form of the entity `e`. Ties are ordered by code point, as SQLite compares UTF-8 bytes."""

_SHOWN = f"""
    CASE WHEN EXISTS (
            SELECT 1 FROM document_rows INDEXED BY documents_disabled WHERE corpus = e.corpus AND disabled = 1
        )
        AND (SELECT count(*) FROM form_rows f WHERE f.entity = e.number) > 1
    THEN coalesce((
        SELECT f.form FROM form_rows f
        CROSS JOIN mention_rows m ON m.form = f.number
        CROSS JOIN chunk_rows c ON c.number = m.chunk
        CROSS JOIN document_rows d ON d.number = c.document
        WHERE f.entity = e.number AND d.disabled = 0
        GROUP BY f.form ORDER BY sum(m.count) DESC, f.form LIMIT 1
    ), {DISPLAY})
    ELSE {DISPLAY} END
"""
"""`DISPLAY` in the documents that are enabled; in all where none of them mentions the entity.

The mentions of an entity are counted only in corpora with disabled documents.
"""

_SURROUNDINGS = """
    SELECT a.id AS around, c.* FROM chunks a
    JOIN document_rows d ON d.number = a.document
    JOIN chunks c ON c.document = a.document AND c.position BETWEEN a.position - :distance AND a.position + :distance
    WHERE a.corpus_id = :corpus AND d.hidden = 0
"""

_AMONG = "IN (SELECT from_hex(value) FROM json_each(:ids))"

_FACTS = """
    FROM facts f
    JOIN chunk_rows c ON c.number = f.chunk
    JOIN document_rows d ON d.number = c.document
    WHERE f.corpus_id = :corpus AND d.hidden = 0
"""

_ENABLED = "AND d.disabled = 0"
_DOCUMENT = "SELECT number FROM documents WHERE corpus_id = :corpus AND raw_id = from_hex(:document)"


class SqliteContents:
    """Implements `core.ports.record.Contents`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        def work(cx: Connection) -> dict[str, Chunk]:
            rows = cx.execute(
                f"{_CHUNKS} {_ENABLED} AND c.raw_id {_AMONG}", {"corpus": corpus_id, "ids": id_list(chunk_ids)}
            )
            return {row["id"]: chunk_from_row(row) for row in rows}

        return await self._database.read(work)

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        def work(cx: Connection) -> list[Chunk]:
            rows = cx.execute(
                f"{_CHUNKS} AND c.document = ({_DOCUMENT}) AND c.position > :after ORDER BY c.position LIMIT :limit",
                {"corpus": corpus_id, "document": document_id, "after": after, "limit": -1 if limit is None else limit},
            )
            return [chunk_from_row(row) for row in rows]

        return await self._database.read(work)

    async def get_surroundings(
        self, corpus_id: str, chunk_ids: Collection[str], distance: int
    ) -> Mapping[str, list[Chunk]]:
        def work(cx: Connection) -> dict[str, list[Chunk]]:
            rows = cx.execute(
                f"{_SURROUNDINGS} {_ENABLED} AND a.raw_id {_AMONG} ORDER BY c.position",
                {"corpus": corpus_id, "distance": distance, "ids": id_list(chunk_ids)},
            )
            found: dict[str, list[Chunk]] = {}
            for row in rows:
                found.setdefault(row["around"], []).append(chunk_from_row(row))
            return found

        return await self._database.read(work)

    async def get_chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        def work(cx: Connection) -> dict[str, Chunk]:
            rows = cx.execute(f"{_CHUNKS} AND c.raw_view_id {_AMONG}", {"corpus": corpus_id, "ids": id_list(view_ids)})
            return {row["view_id"]: chunk_from_row(row) for row in rows}

        return await self._database.read(work)

    async def get_entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]:
        def work(cx: Connection) -> dict[str, Entity]:
            rows = cx.execute(
                f"SELECT e.id, e.name, {_SHOWN} FROM entities e WHERE e.corpus_id = :corpus AND e.raw_id {_AMONG}",
                {"corpus": corpus_id, "ids": id_list(entity_ids)},
            )
            return {id: Entity(id=id, name=name, display=display) for id, name, display in rows}

        return await self._database.read(work)

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        def work(cx: Connection) -> list[FactRow]:
            rows = cx.execute(
                f"""
                SELECT f.id, f.chunk_id, f.subject_id, f.predicate, f.object_id {_FACTS} {_ENABLED}
                AND f.raw_chunk_id {_AMONG} ORDER BY f.raw_chunk_id, f.id
                """,
                {"corpus": corpus_id, "ids": id_list(chunk_ids)},
            )
            return [FactRow(**row) for row in _with_names(cx, corpus_id, list(map(dict, rows)))]

        return await self._database.read(work)

    async def get_triples(
        self, corpus_id: str, triple_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, TripleRow]:
        def work(cx: Connection) -> dict[str, TripleRow]:
            rows = cx.execute(
                f"""
                SELECT lower(hex(f.triple)) AS triple_id, lower(hex(f.subject)) AS subject_id, f.predicate,
                       lower(hex(f.object)) AS object_id, group_concat(lower(hex(c.id)), ' ') AS chunk_ids
                FROM fact_rows f
                CROSS JOIN chunk_rows c ON c.number = f.chunk
                CROSS JOIN corpus_numbers k ON k.number = c.corpus
                CROSS JOIN document_rows d ON d.number = c.document
                WHERE k.id = :corpus AND d.hidden = 0
                AND (:disabled IS NULL OR d.disabled = :disabled) AND f.triple {_AMONG} GROUP BY f.triple
                """,
                {
                    "corpus": corpus_id,
                    "ids": id_list(triple_ids),
                    "disabled": None if enabled is None else int(not enabled),
                },
            )
            return {row.pop("triple_id"): _triple(row) for row in _with_names(cx, corpus_id, list(map(dict, rows)))}

        return await self._database.read(work)


def _with_names(cx: Connection, corpus_id: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows with the display names of their subjects and objects, each of which is read once."""
    ids = {id for row in rows for id in (row["subject_id"], row["object_id"])}
    found = cx.execute(
        f"SELECT e.id, {_SHOWN} AS display FROM entities e WHERE e.corpus_id = :corpus AND e.raw_id {_AMONG}",
        {"corpus": corpus_id, "ids": id_list(ids)},
    )
    names = {row["id"]: row["display"] for row in found}
    return [{**row, "subject": names[row["subject_id"]], "object": names[row["object_id"]]} for row in rows]


def _triple(row: dict[str, Any]) -> TripleRow:
    chunk_ids = tuple(sorted(row.pop("chunk_ids").split()))
    return TripleRow(chunk_ids=chunk_ids, **row)
