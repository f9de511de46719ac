"""The port `Documents` in Neo4j: the documents that readers see."""

import json
from collections.abc import Collection, Mapping

from core.documents import Document, DocumentRef, RevisionState
from core.filters import DocumentFilter
from core.ports.record import DocumentPage
from core.record_policy.errors import document_missing
from core.record_policy.match_cache import MatchCache, Matches
from core.record_policy.pages import make_page
from stores.neo4j.driver.database import Neo4jDatabase, Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.rows import document_from_row
from stores.neo4j.driver.statements import statements

__all__ = ["Neo4jDocuments"]

_CYPHER = statements("documents")
_GENERATION = statements("graph")["corpus"]


class Neo4jDocuments:
    """Implements `core.ports.record.Documents`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database
        self._matches = MatchCache()

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
            # Whatever a filter may see raises the generation. It is read first: what is committed meanwhile has a
            # later one, so the next call reads again.
            row = tx.row(_GENERATION, corpus=corpus_id)
            known = self._matches.get(key, where)
            if row is not None and known is not None and known.version == row["generation"]:
                return known.ids
            ids = frozenset(
                id
                for id, key, title, metadata in tx.stream(_CYPHER["readable"], corpus=corpus_id, enabled=enabled)
                if where.matches(id=id, key=key, title=title, metadata=json.loads(metadata))
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
        return {row["id"]: DocumentRef(**{**row, "metadata": json.loads(row["metadata"])}) for row in rows}
