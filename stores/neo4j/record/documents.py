"""The ports of documents and of their contents in Neo4j: what readers see.

`Neo4jDocuments` lists and filters documents; `Neo4jContents` reads their chunks, entities, facts and triples.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.filters import DocumentFilter
from core.graph import Entity
from core.ports.record import DocumentPage, FactRow, TripleRow
from core.record_policy.documents import DatedCache, MatchCache, Matches, make_page
from core.record_policy.errors import document_missing
from stores.neo4j.driver.database import Neo4jDatabase, Neo4jPort
from stores.neo4j.driver.rows import chunk_from_row, document_from_row, uid_of
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.record_rows import load_access

_CYPHER = statements("documents")
_GENERATION = statements("graph")["corpus"]


class Neo4jDocuments:
    """Implements `core.ports.record.Documents`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database
        self._matches = MatchCache()
        self._dated = DatedCache()

    async def list(
        self,
        corpus_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        key: str | None = None,
        state: RevisionState | None = None,
        enabled: bool | None = None,
    ) -> DocumentPage:
        parameters = {
            "corpus": corpus_id,
            "after": cursor or "",
            "state": state.value if state else None,
            "enabled": enabled,
        }

        def work(tx: Transaction) -> DocumentPage:
            if key is None:
                rows = tx.rows(_CYPHER["documents"], **parameters, limit=limit + 1)
            else:
                rows = tx.rows(_CYPHER["document_by_key"], **parameters, key=key)
            return make_page(rows, limit, lambda row: document_from_row(row["document"]))

        return await self._database.read(work)

    async def get(self, corpus_id: str, document_id: str) -> Document:
        row = await self._database.read(lambda tx: tx.row(_CYPHER["document"], uid=uid_of(corpus_id, document_id)))
        if row is None:
            raise document_missing(document_id)
        return document_from_row(row["document"])

    async def match(self, corpus_id: str, where: DocumentFilter, *, enabled: bool | None = True) -> frozenset[str]:
        key = (corpus_id, enabled)

        def work(tx: Transaction) -> frozenset[str]:
            # Whatever a filter may see raises the generation. The generation is read first: a commit meanwhile has a
            # later generation, so the next call reads again.
            row = tx.row(_GENERATION, corpus=corpus_id)
            known = self._matches.get(key, where)
            if row is not None and known is not None and known.version == row["generation"]:
                return known.ids
            ids = frozenset(
                id
                for id, key, title, metadata, access in tx.stream(
                    _CYPHER["readable"], corpus=corpus_id, enabled=enabled
                )
                if where.matches(id=id, key=key, title=title, metadata=json.loads(metadata), access=load_access(access))
            )
            if row is not None:
                return self._matches.put(key, where, Matches(version=row["generation"], ids=ids))
            return ids

        return await self._database.read(work)

    async def get_refs(
        self, corpus_id: str, document_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, DocumentRef]:
        uids = [uid_of(corpus_id, id) for id in dict.fromkeys(document_ids)]
        if not uids:
            return {}
        rows = await self._database.read(lambda tx: tx.rows_in_batches(_CYPHER["refs"], uids, enabled=enabled))
        return {row["id"]: _ref(row) for row in rows}

    async def list_dated(self, corpus_id: str) -> Mapping[str, DocumentRef]:
        def work(tx: Transaction) -> Mapping[str, DocumentRef]:
            row = tx.row(_GENERATION, corpus=corpus_id)  # read first, as `match` does
            known = self._dated.get(corpus_id)
            if row is not None and known is not None and known.version == row["generation"]:
                return known.refs
            refs = {found["id"]: _ref(found) for found in tx.rows(_CYPHER["dated"], corpus=corpus_id)}
            return refs if row is None else self._dated.put(corpus_id, row["generation"], refs)

        return await self._database.read(work)


def _ref(row: Row) -> DocumentRef:
    return DocumentRef(**{**row, "metadata": json.loads(row["metadata"]), "access": load_access(row["access"])})


_CONTENTS = statements("contents")

_ALL = 2**31  # more chunks than a document can have


class Neo4jContents(Neo4jPort):
    """Implements `core.ports.record.Contents`."""

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        return {c.id: c for c in map(_chunk, await self._get("chunks", corpus_id, chunk_ids))}

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        uid, count = uid_of(corpus_id, document_id), _ALL if limit is None else limit
        while True:
            rows = await self._database.read(
                lambda tx: tx.rows(_CONTENTS["chunks_of"], uid=uid, after=after, limit=count)
            )
            now = await self._database.read(lambda tx: tx.rows(_CONTENTS["current_of"], uid=uid)) if rows else []
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
        return await self._database.read(lambda tx: tx.rows_in_batches(_CONTENTS[statement], uids, **parameters))


def _chunk(row: Row) -> Chunk:
    return chunk_from_row(row["chunk"])
