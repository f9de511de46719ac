"""What readers see: current revisions, and nothing that is being deleted."""

import json
from collections.abc import Collection, Mapping

from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.errors import NotFound
from core.filters import DocumentFilter
from core.graph import Entity
from core.ports.record import DocumentPage, FactRow, TripleRow
from stores.neo4j.driver.database import Database, Row, Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.rows import chunk_from_row, document_from_row
from stores.neo4j.driver.statements import statements

__all__ = ["Neo4jLibrary"]

_CYPHER = statements("library")


class Neo4jLibrary:
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
        asked = {"corpus": corpus_id, "after": cursor or "", "state": state.value if state else None}

        def work(tx: Transaction) -> DocumentPage:
            if key is None:
                rows = tx.rows(_CYPHER["documents"], **asked, limit=limit + 1)
            else:
                rows = tx.rows(_CYPHER["document_by_key"], **asked, key=key)
            data = tuple(document_from_row(row["document"]) for row in rows[:limit])
            return DocumentPage(data=data, next_cursor=data[-1].key if data and len(rows) > limit else None)

        return await self._database.read(work)

    async def document(self, corpus_id: str, document_id: str) -> Document:
        row = await self._database.read(lambda tx: tx.row(_CYPHER["document"], uid=uid_of(corpus_id, document_id)))
        if row is None:
            raise NotFound(f"there is no document with the id {document_id!r} in this corpus")
        return document_from_row(row["document"])

    async def matching(self, corpus_id: str, where: DocumentFilter) -> frozenset[str]:
        def work(tx: Transaction) -> frozenset[str]:
            return frozenset(
                id
                for id, key, title, metadata in tx.stream(_CYPHER["readable"], corpus=corpus_id)
                if where.matches(id=id, key=key, title=title, metadata=json.loads(metadata))
            )

        return await self._database.read(work)

    async def refs(self, corpus_id: str, document_ids: Collection[str]) -> Mapping[str, DocumentRef]:
        rows = await self._among("refs", corpus_id, document_ids)
        return {row["id"]: DocumentRef(**{**row, "metadata": json.loads(row["metadata"])}) for row in rows}

    async def chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        return {c.id: c for c in map(_chunk, await self._among("chunks", corpus_id, chunk_ids))}

    async def chunks_of(self, corpus_id: str, document_id: str) -> list[Chunk]:
        uid = uid_of(corpus_id, document_id)
        return [_chunk(row) for row in await self._database.read(lambda tx: tx.rows(_CYPHER["chunks_of"], uid=uid))]

    async def chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        return {c.view_id: c for c in map(_chunk, await self._among("chunks_by_view", corpus_id, view_ids))}

    async def entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]:
        return {row["id"]: Entity(**row) for row in await self._among("entities", corpus_id, entity_ids)}

    async def facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        facts = [FactRow(**row) for row in await self._among("facts_of", corpus_id, chunk_ids)]
        return sorted(facts, key=lambda fact: (fact.chunk_id, fact.id))

    async def triples(self, corpus_id: str, triple_ids: Collection[str]) -> Mapping[str, TripleRow]:
        rows = map(dict, await self._among("triples", corpus_id, triple_ids))
        return {row.pop("id"): TripleRow(**{**row, "chunk_ids": tuple(sorted(row["chunk_ids"]))}) for row in rows}

    async def _among(self, statement: str, corpus_id: str, ids: Collection[str]) -> list[Row]:
        """The rows of these ids, each asked for once."""
        uids = [uid_of(corpus_id, id) for id in dict.fromkeys(ids)]
        if not uids:
            return []
        return await self._database.read(lambda tx: tx.rows_in_batches(_CYPHER[statement], uids))


def _chunk(row: Row) -> Chunk:
    return chunk_from_row(row["chunk"])
