"""Documents and their contents as the holder of a key with a filter sees them."""

from collections.abc import Collection, Mapping

from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.errors import NotFound
from core.filters import DocumentFilter
from core.graph import Entity
from core.ports.record import Contents, DocumentPage, Documents, FactRow, TripleRow
from core.record_policy.documents import make_page
from core.record_policy.errors import document_missing

__all__ = ["RestrictedContents", "RestrictedDocuments", "matches"]

_PAGE = 1000


def matches(where: DocumentFilter, document: Document) -> bool:
    return where.matches(id=document.id, key=document.key, title=document.title, metadata=document.metadata)


class RestrictedDocuments:
    """Implements `core.ports.record.Documents`: documents that do not match are not there."""

    def __init__(self, documents: Documents, where: DocumentFilter) -> None:
        self._documents = documents
        self._where = where
        self._readable: dict[str, frozenset[str]] = {}

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
        found: list[Document] = []
        while len(found) <= limit:
            page = await self._documents.list(
                corpus_id, limit=_PAGE, cursor=cursor, key=key, state=state, enabled=enabled
            )
            found += [document for document in page.data if matches(self._where, document)]
            cursor = page.next_cursor
            if cursor is None:
                break
        return make_page(found, limit, lambda document: document)

    async def get(self, corpus_id: str, document_id: str) -> Document:
        document = await self._documents.get(corpus_id, document_id)
        if not matches(self._where, document):
            raise document_missing(document_id)
        return document

    async def match(self, corpus_id: str, where: DocumentFilter, *, enabled: bool | None = True) -> frozenset[str]:
        return await self._documents.match(corpus_id, where.join(self._where), enabled=enabled)

    async def get_refs(
        self, corpus_id: str, document_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, DocumentRef]:
        refs = await self._documents.get_refs(corpus_id, document_ids, enabled=enabled)
        return {
            id: ref
            for id, ref in refs.items()
            if self._where.matches(id=ref.id, key=ref.key, title=ref.title, metadata=ref.metadata)
        }

    async def readable(self, corpus_id: str) -> frozenset[str]:
        """Returns the ids of the readable documents that match, as they are when this is first called."""
        if corpus_id not in self._readable:
            self._readable[corpus_id] = await self._documents.match(corpus_id, self._where, enabled=None)
        return self._readable[corpus_id]

    async def outside(self, corpus_id: str, document_ids: Collection[str]) -> frozenset[str]:
        """Returns the ids whose documents exist and do not match."""
        refs = await self._documents.get_refs(corpus_id, document_ids, enabled=None)
        found = set(refs) - set(await self.get_refs(corpus_id, list(refs), enabled=None))
        for id in set(document_ids) - set(refs):
            try:
                document = await self._documents.get(corpus_id, id)
            except NotFound:
                continue
            if not matches(self._where, document):
                found.add(id)
        return frozenset(found)

    async def among(self, corpus_id: str, document_ids: Collection[str]) -> frozenset[str]:
        """Returns the ids whose documents match, also of documents that are not readable yet."""
        matching = set(await self.get_refs(corpus_id, document_ids, enabled=None))
        for id in set(document_ids) - matching:
            try:
                matching.add((await self.get(corpus_id, id)).id)
            except NotFound:
                continue
        return frozenset(matching)


class RestrictedContents:
    """Implements `core.ports.record.Contents`: chunks of documents that do not match are not there.

    The display name of an entity is chosen among its spellings in all documents; they differ in case and marks only.
    """

    def __init__(self, contents: Contents, documents: RestrictedDocuments) -> None:
        self._contents = contents
        self._documents = documents

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        return await self._select(corpus_id, await self._contents.get_chunks(corpus_id, chunk_ids))

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        chunks = await self._contents.get_chunks_of(corpus_id, document_id, after=after, limit=limit)
        return [chunk for chunk in chunks if chunk.document_id in await self._documents.readable(corpus_id)]

    async def get_surroundings(
        self, corpus_id: str, chunk_ids: Collection[str], distance: int
    ) -> Mapping[str, list[Chunk]]:
        near = await self._contents.get_surroundings(corpus_id, chunk_ids, distance)
        readable = await self._documents.readable(corpus_id)
        return {id: chunks for id, chunks in near.items() if all(chunk.document_id in readable for chunk in chunks)}

    async def get_chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        return await self._select(corpus_id, await self._contents.get_chunks_by_view(corpus_id, view_ids))

    async def get_entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]:
        return await self._contents.get_entities(corpus_id, entity_ids)

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        seen = await self._seen(corpus_id, chunk_ids)
        return await self._contents.get_facts_of(corpus_id, [id for id in chunk_ids if id in seen])

    async def get_triples(
        self, corpus_id: str, triple_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, TripleRow]:
        triples = await self._contents.get_triples(corpus_id, triple_ids, enabled=enabled)
        seen = await self._seen(corpus_id, {id for triple in triples.values() for id in triple.chunk_ids})
        kept = {
            id: tuple(chunk_id for chunk_id in triple.chunk_ids if chunk_id in seen) for id, triple in triples.items()
        }
        return {
            id: TripleRow(
                subject_id=triple.subject_id,
                subject=triple.subject,
                predicate=triple.predicate,
                object_id=triple.object_id,
                object=triple.object,
                chunk_ids=kept[id],
            )
            for id, triple in triples.items()
            if kept[id]
        }

    async def _seen(self, corpus_id: str, chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset(await self.get_chunks(corpus_id, chunk_ids))

    async def _select(self, corpus_id: str, chunks: Mapping[str, Chunk]) -> Mapping[str, Chunk]:
        readable = await self._documents.readable(corpus_id)
        return {id: chunk for id, chunk in chunks.items() if chunk.document_id in readable}
