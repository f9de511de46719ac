"""What readers see: current revisions, and nothing that is being deleted."""

import json
from collections.abc import Collection, Mapping

from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.errors import NotFound
from core.filters import DocumentFilter
from core.graph import Entity
from core.ports.record import DocumentPage, FactRow, TripleRow
from stores.sqlite.database import Connection, Database
from stores.sqlite.record.rows import chunk_from_row, document_from_row, id_list

__all__ = ["DISPLAY", "SqliteLibrary"]

_DOCUMENTS = """
    SELECT d.*, r.state, r.reason, r.updated_at, s.media_type, s.size, s.content_hash
    FROM documents d
    JOIN revisions r ON r.corpus_id = d.corpus_id AND r.document_id = d.id AND r.number = d.newest
    JOIN revisions s ON s.corpus_id = d.corpus_id AND s.document_id = d.id AND s.number = coalesce(d.current, d.newest)
    WHERE d.corpus_id = :corpus AND d.hidden = 0
"""

_CHUNKS = """
    SELECT c.* FROM chunks c JOIN documents d ON d.corpus_id = c.corpus_id AND d.id = c.document_id
    WHERE c.corpus_id = :corpus AND d.hidden = 0
"""

#: The most frequent surviving form of entity `e`, ties by code point (SQLite compares text as UTF-8 bytes: the same).
DISPLAY = """(
    SELECT f.form FROM forms f WHERE f.corpus_id = e.corpus_id AND f.entity_id = e.id
    ORDER BY f.count DESC, f.form LIMIT 1
)"""

_AMONG = "IN (SELECT value FROM json_each(:ids))"


_NAMES = f"""
    (SELECT {DISPLAY} FROM entities e WHERE e.corpus_id = f.corpus_id AND e.id = f.subject_id) AS subject,
    (SELECT {DISPLAY} FROM entities e WHERE e.corpus_id = f.corpus_id AND e.id = f.object_id) AS object
"""

_FACTS = """
    FROM facts f
    JOIN chunks c ON c.corpus_id = f.corpus_id AND c.id = f.chunk_id
    JOIN documents d ON d.corpus_id = c.corpus_id AND d.id = c.document_id
    WHERE f.corpus_id = :corpus AND d.hidden = 0
"""


class SqliteLibrary:
    """Fills `core.ports.record.Library`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def documents(
        self,
        corpus_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        key: str | None = None,
        state: RevisionState | None = None,
    ) -> DocumentPage:
        def work(cx: Connection) -> DocumentPage:
            rows = cx.execute(
                _DOCUMENTS
                + """
                AND (:cursor IS NULL OR d.key > :cursor) AND (:key IS NULL OR d.key = :key)
                AND (:state IS NULL OR r.state = :state) ORDER BY d.key LIMIT :limit
                """,
                {
                    "corpus": corpus_id,
                    "cursor": cursor,
                    "key": key,
                    "state": state.value if state else None,
                    "limit": limit + 1,
                },
            ).fetchall()
            data = tuple(document_from_row(row) for row in rows[:limit])
            return DocumentPage(data=data, next_cursor=data[-1].key if len(rows) > limit else None)

        return await self._database.read(work)

    async def document(self, corpus_id: str, document_id: str) -> Document:
        def work(cx: Connection) -> Document:
            row = cx.execute(_DOCUMENTS + " AND d.id = :id", {"corpus": corpus_id, "id": document_id}).fetchone()
            if row is None:
                raise NotFound(f"there is no document with the id {document_id!r} in this corpus")
            return document_from_row(row)

        return await self._database.read(work)

    async def matching(self, corpus_id: str, where: DocumentFilter) -> frozenset[str]:
        def work(cx: Connection) -> frozenset[str]:
            rows = cx.execute(
                """
                SELECT id, key, title, metadata FROM documents
                WHERE corpus_id = ? AND hidden = 0 AND current IS NOT NULL
                """,
                (corpus_id,),
            )
            return frozenset(
                id
                for id, key, title, metadata in rows
                if where.matches(id=id, key=key, title=title, metadata=json.loads(metadata))
            )

        return await self._database.read(work)

    async def refs(self, corpus_id: str, document_ids: Collection[str]) -> Mapping[str, DocumentRef]:
        def work(cx: Connection) -> dict[str, DocumentRef]:
            rows = cx.execute(
                f"""
                SELECT id, key, title, metadata FROM documents
                WHERE corpus_id = :corpus AND hidden = 0 AND current IS NOT NULL AND id {_AMONG}
                """,
                {"corpus": corpus_id, "ids": id_list(document_ids)},
            )
            return {
                id: DocumentRef(id=id, key=key, title=title, metadata=json.loads(metadata))
                for id, key, title, metadata in rows
            }

        return await self._database.read(work)

    async def chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        def work(cx: Connection) -> dict[str, Chunk]:
            rows = cx.execute(f"{_CHUNKS} AND c.id {_AMONG}", {"corpus": corpus_id, "ids": id_list(chunk_ids)})
            return {row["id"]: chunk_from_row(row) for row in rows}

        return await self._database.read(work)

    async def chunks_of(self, corpus_id: str, document_id: str) -> list[Chunk]:
        def work(cx: Connection) -> list[Chunk]:
            rows = cx.execute(
                f"{_CHUNKS} AND c.document_id = :document ORDER BY c.position",
                {"corpus": corpus_id, "document": document_id},
            )
            return [chunk_from_row(row) for row in rows]

        return await self._database.read(work)

    async def chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        def work(cx: Connection) -> dict[str, Chunk]:
            rows = cx.execute(f"{_CHUNKS} AND c.view_id {_AMONG}", {"corpus": corpus_id, "ids": id_list(view_ids)})
            return {row["view_id"]: chunk_from_row(row) for row in rows}

        return await self._database.read(work)

    async def entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]:
        def work(cx: Connection) -> dict[str, Entity]:
            rows = cx.execute(
                f"SELECT e.id, e.name, {DISPLAY} FROM entities e WHERE e.corpus_id = :corpus AND e.id {_AMONG}",
                {"corpus": corpus_id, "ids": id_list(entity_ids)},
            )
            return {id: Entity(id=id, name=name, display=display) for id, name, display in rows}

        return await self._database.read(work)

    async def facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        def work(cx: Connection) -> list[FactRow]:
            rows = cx.execute(
                f"""
                SELECT f.id, f.chunk_id, f.subject_id, f.predicate, f.object_id, {_NAMES} {_FACTS}
                AND f.chunk_id {_AMONG} ORDER BY f.chunk_id, f.id
                """,
                {"corpus": corpus_id, "ids": id_list(chunk_ids)},
            )
            return [FactRow(**dict(row)) for row in rows]

        return await self._database.read(work)

    async def triples(self, corpus_id: str, triple_ids: Collection[str]) -> Mapping[str, TripleRow]:
        def work(cx: Connection) -> dict[str, TripleRow]:
            rows = cx.execute(
                f"""
                SELECT f.triple_id, f.subject_id, f.predicate, f.object_id, {_NAMES},
                       group_concat(f.chunk_id, ' ') AS chunk_ids {_FACTS}
                AND f.triple_id {_AMONG} GROUP BY f.triple_id
                """,
                {"corpus": corpus_id, "ids": id_list(triple_ids)},
            )
            return {row.pop("triple_id"): _triple(row) for row in map(dict, rows)}

        return await self._database.read(work)


def _triple(row: dict[str, str]) -> TripleRow:
    chunk_ids = tuple(sorted(row.pop("chunk_ids").split()))
    return TripleRow(chunk_ids=chunk_ids, **row)
