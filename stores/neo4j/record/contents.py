"""The port `Contents` in Neo4j: the chunks, entities, facts and triples that readers see."""

from collections.abc import Collection, Mapping
from typing import Any

from core.documents import Chunk
from core.graph import Entity
from core.ports.record import FactRow, TripleRow
from stores.neo4j.driver.database import Neo4jDatabase, Row
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.rows import chunk_from_row
from stores.neo4j.driver.statements import statements

__all__ = ["Neo4jContents"]

_CYPHER = statements("contents")

_ALL = 2**31  # more chunks than a document can have


class Neo4jContents:
    """Implements `core.ports.record.Contents`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        return {c.id: c for c in map(_chunk, await self._get("chunks", corpus_id, chunk_ids))}

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        uid, count = uid_of(corpus_id, document_id), _ALL if limit is None else limit
        while True:
            rows = await self._database.read(
                lambda tx: tx.rows(_CYPHER["chunks_of"], uid=uid, after=after, limit=count)
            )
            now = await self._database.read(lambda tx: tx.rows(_CYPHER["current_of"], uid=uid)) if rows else []
            # A chunk that two revisions share has one position, which a commit changes while this reads.
            if not now or now[0]["current"] == rows[0]["current"]:
                return [_chunk(row) for row in rows]

    async def get_surroundings(
        self, corpus_id: str, chunk_ids: Collection[str], distance: int
    ) -> Mapping[str, list[Chunk]]:
        rows = await self._get("surroundings", corpus_id, chunk_ids, distance=distance)
        return {row["id"]: sorted(map(chunk_from_row, row["chunks"]), key=lambda chunk: chunk.position) for row in rows}

    async def get_chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        return {c.view_id: c for c in map(_chunk, await self._get("chunks_by_view", corpus_id, view_ids))}

    async def get_entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]:
        return {row["id"]: Entity(**row) for row in await self._get("entities", corpus_id, entity_ids)}

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        facts = [FactRow(**row) for row in await self._get("facts_of", corpus_id, chunk_ids)]
        return sorted(facts, key=lambda fact: (fact.chunk_id, fact.id))

    async def get_triples(
        self, corpus_id: str, triple_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, TripleRow]:
        rows = map(dict, await self._get("triples", corpus_id, triple_ids, enabled=enabled))
        return {row.pop("id"): TripleRow(**{**row, "chunk_ids": tuple(sorted(row["chunk_ids"]))}) for row in rows}

    async def _get(self, statement: str, corpus_id: str, ids: Collection[str], **parameters: Any) -> list[Row]:
        """Returns the rows of these ids, each once."""
        uids = [uid_of(corpus_id, id) for id in dict.fromkeys(ids)]
        if not uids:
            return []
        return await self._database.read(lambda tx: tx.rows_in_batches(_CYPHER[statement], uids, **parameters))


def _chunk(row: Row) -> Chunk:
    return chunk_from_row(row["chunk"])
