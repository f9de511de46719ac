"""Corpora with their documents, merges and certificates as the holder of a key sees them.

A key with a filter sees the documents that match it, and their contents. A key with principals sees the documents whose
access has one of them, or that have no access: this is a condition of its filter (`core.principals`), so whatever
respects the one respects the other.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace

from app.access.access import Access
from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.documents import Chunk, Document, DocumentRef, RevisionState, matches
from core.errors import Conflict, NotFound, Unavailable
from core.execution.recent import Recent
from core.execution.threads import compute
from core.filters import DocumentFilter
from core.graph import Entity, EntityMerge, EntityRejection
from core.jobs import Job
from core.ports.record import (
    Certificate,
    Certificates,
    Contents,
    Corpora,
    DocumentPage,
    Documents,
    EntityMerges,
    EntityResolution,
    FactRow,
    GraphMerge,
    GraphSchemas,
    Removal,
    TripleRow,
)
from core.record_policy.documents import make_page
from core.record_policy.errors import corpus_name_missing, document_missing

_PAGE = 1000
_PAUSE_SECONDS = 0.5
"""Between two looks at what the caller may see, while it is sent."""
_LATE_SECONDS = 1.5
"""What the record said is asked again if the reply took longer, as on a busy machine: it may not hold any more."""
_SILENT_SECONDS = 3.0
"""How long an export goes on while the record does not answer: no longer than a change of access takes to be seen."""


_MOST_DATED = 32
"""Callers whose dated documents are kept."""
_dated: Recent[tuple[str, str], tuple[Mapping[str, DocumentRef], Mapping[str, DocumentRef]]] = Recent(_MOST_DATED)
"""By the id of a corpus and the filter of a caller: the dated documents, and which of them match. The record has other
ones as soon as a document changes, or who may see it, so what was taken away is not found here, and is replaced.
"""


class RestrictedDocuments:
    """Implements `core.ports.record.Documents`: documents that do not match are not there.

    Of the access of a document, a caller with principals is shown its own.
    """

    def __init__(self, documents: Documents, access: Access, where: DocumentFilter) -> None:
        self._documents = documents
        self._access = access
        self._where = where

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
            found += [self._show(document) for document in page.data if matches(self._where, document)]
            cursor = page.next_cursor
            if cursor is None:
                break
        return make_page(found, limit, lambda document: document)

    async def get(self, corpus_id: str, document_id: str) -> Document:
        document = await self._documents.get(corpus_id, document_id)
        if not matches(self._where, document):
            raise document_missing(document_id)
        return self._show(document)

    async def match(self, corpus_id: str, where: DocumentFilter, *, enabled: bool | None = True) -> frozenset[str]:
        return await self._documents.match(corpus_id, where.join(self._where), enabled=enabled)

    async def get_refs(
        self, corpus_id: str, document_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, DocumentRef]:
        return self._select_refs(await self._documents.get_refs(corpus_id, document_ids, enabled=enabled))

    async def list_dated(self, corpus_id: str) -> Mapping[str, DocumentRef]:
        """Returns the same mapping until a document of the corpus changes, or who may see it: what is computed from it
        need not be computed again.
        """
        refs = await self._documents.list_dated(corpus_id)
        key = (corpus_id, self._where.digest)
        known = _dated.get(key)
        if known is None or known[0] is not refs:
            known = _dated.put(key, (refs, self._select_refs(refs)))
        return known[1]

    @property
    def where(self) -> DocumentFilter:
        return self._where

    def _select_refs(self, refs: Mapping[str, DocumentRef]) -> Mapping[str, DocumentRef]:
        return {id: ref for id, ref in refs.items() if matches(self._where, ref)}

    async def readable(self, corpus_id: str) -> frozenset[str]:
        """Returns the ids of the readable documents that match now: the record keeps them by their version. So a
        question that is answered for a minute reads nothing any more that its asker has lost.
        """
        return await self._documents.match(corpus_id, self._where, enabled=None)

    async def check_kept(self, corpus_id: str, document_ids: Set[str]) -> None:
        """Raises `Conflict` if one of these documents exists and does not match now: it was taken from the caller."""
        is_late = True
        while is_late:
            asked = time.monotonic()
            readable = await self.readable(corpus_id)
            await self._check_lost(corpus_id, await compute(_find_lost, document_ids, readable))
            is_late = time.monotonic() - asked > _LATE_SECONDS

    async def watch_kept(self, corpora: Corpora, corpus_id: str, readable: frozenset[str]) -> None:
        """Looks without end at the documents `readable`, and at the documents that can be read meanwhile.

        Raises `Conflict` as soon as one of them is taken from the caller, or the corpus is deleted, and `Unavailable`
        if the record does not answer for `_SILENT_SECONDS`. Documents that are deleted are forgotten.
        """
        last_asked = time.monotonic()
        while True:
            asked = time.monotonic()
            try:
                async with asyncio.timeout(last_asked + _SILENT_SECONDS - asked):
                    readable = await self._look_again(corpora, corpus_id, readable)
                last_asked = asked
            except TimeoutError as error:
                raise Unavailable("the record does not answer, so what may be exported is not known") from error
            except Unavailable:
                if time.monotonic() - last_asked > _SILENT_SECONDS - _PAUSE_SECONDS:
                    raise
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _look_again(self, corpora: Corpora, corpus_id: str, readable: frozenset[str]) -> frozenset[str]:
        """Returns the documents that can be read now: the same set if nothing has changed, which costs little."""
        if not (await corpora.get_by_id(corpus_id)).name:
            raise Conflict("the corpus was deleted or replaced while it was exported")
        now = await self.readable(corpus_id)
        if now is not readable:
            await self._check_lost(corpus_id, await compute(_find_lost, readable, now))
        return now

    async def _check_lost(self, corpus_id: str, lost: Set[str]) -> None:
        if lost and await self._documents.get_refs(corpus_id, lost, enabled=None):
            raise Conflict("a document was taken from this key while it was exported: export again")

    def sees_row(self, row: Mapping[str, object]) -> bool:
        """Returns whether the row of a document in an export matches."""
        access = row.get("access")
        fields = {name: str(row[name]) for name in ("id", "key", "title")}
        metadata = row["metadata"]
        return self._where.matches(
            **fields,
            metadata=metadata if isinstance(metadata, Mapping) else {},
            access=tuple(map(str, access)) if isinstance(access, Sequence) else None,
        )

    def show_access(self, access: Sequence[str]) -> Sequence[str]:
        """Returns what the caller is shown of the principals of a document."""
        return self._access.show(tuple(access)) or ()

    def _show(self, document: Document) -> Document:
        return replace(document, access=self._access.show(document.access))


def _find_lost(before: Set[str], now: Set[str]) -> Set[str]:
    """Loops in Python: a difference of sets in a thread would stop the event loop until it is computed."""
    return {id for id in before if id not in now}


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
        readable = await self._documents.readable(corpus_id)  # after the chunks: of what is not there any more, nothing
        return [chunk for chunk in chunks if chunk.document_id in readable]

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


_SHOWN = 10


class RestrictedCorpora:
    """Implements `core.ports.record.Corpora`: a corpus that the key may not see is not there."""

    def __init__(self, corpora: Corpora, access: Access) -> None:
        self._corpora = corpora
        self._access = access

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        self._access.check_name(name)
        return await self._corpora.create(name, settings)

    async def get(self, name: str) -> Corpus:
        if not self._access.sees(name):
            raise await self._missing(name)
        try:
            return await self._corpora.get(name)
        except NotFound as error:  # whose message names corpora that this key may not see
            raise await self._missing(name) from error

    async def get_by_id(self, corpus_id: str) -> Corpus:
        return await self._corpora.get_by_id(corpus_id)

    async def list(self) -> Sequence[Corpus]:
        return [corpus for corpus in await self._corpora.list() if self._access.sees(corpus.name)]

    async def rename(self, name: str, new_name: str) -> Corpus:
        await self.get(name)
        self._access.check_name(new_name)
        return await self._corpora.rename(name, new_name)

    async def delete(self, name: str) -> Job:
        await self.get(name)
        return await self._corpora.delete(name)

    async def count(self, corpus_id: str) -> CorpusCounts:
        """Raises `Forbidden` for a key with a filter."""
        self._access.check_whole("counts are those of")
        return await self._corpora.count(corpus_id)

    async def _missing(self, name: str) -> NotFound:
        return corpus_name_missing(name, [corpus.name for corpus in (await self.list())[:_SHOWN]])


class RestrictedMerges:
    """Implements `core.ports.record.EntityMerges` for a key with a filter: merges concern whole corpora."""

    def __init__(self, merges: EntityMerges, access: Access) -> None:
        self._merges = merges
        self._access = access

    async def merge(self, corpus_id: str, from_id: str, into_id: str, *, automatic: bool = False) -> EntityMerge:
        self._access.check_whole("a merge changes the entities of")
        return await self._merges.merge(corpus_id, from_id, into_id, automatic=automatic)

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        self._access.check_whole("a merge changes the entities of")
        return await self._merges.undo(corpus_id, merge_id)

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        """Returns all merges: `app.services.graph` selects the merges of entities that the key may see."""
        return await self._merges.list(corpus_id)

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        self._access.check_whole("a merge changes the entities of")
        return await self._merges.adopt(corpus_id, merges)


class RestrictedResolution:
    """Implements `core.ports.record.EntityResolution` for a key with a filter: decisions concern whole corpora."""

    def __init__(self, resolution: EntityResolution, access: Access) -> None:
        self._resolution = resolution
        self._access = access

    async def reject(self, corpus_id: str, first_id: str, second_id: str) -> EntityRejection:
        self._access.check_whole("a rejected pair is one of")
        return await self._resolution.reject(corpus_id, first_id, second_id)

    async def withdraw(self, corpus_id: str, rejection_id: str) -> EntityRejection:
        self._access.check_whole("a rejected pair is one of")
        return await self._resolution.withdraw(corpus_id, rejection_id)

    async def list(self, corpus_id: str) -> Sequence[EntityRejection]:
        """Returns all rejections: `app.services.resolution` selects the ones of entities that the key may see."""
        return await self._resolution.list(corpus_id)

    async def get_threshold(self, corpus_id: str) -> float | None:
        return await self._resolution.get_threshold(corpus_id)

    async def set_threshold(self, corpus_id: str, threshold: float | None) -> None:
        self._access.check_whole("the threshold is one of")
        await self._resolution.set_threshold(corpus_id, threshold)

    async def adopt(self, corpus_id: str, pairs: Sequence[tuple[str, str]]) -> int:
        self._access.check_whole("a rejected pair is one of")
        return await self._resolution.adopt(corpus_id, pairs)


class RestrictedSchemas:
    """Implements `core.ports.record.GraphSchemas` for a key with a filter: a schema is one of a whole corpus."""

    def __init__(self, schemas: GraphSchemas, access: Access) -> None:
        self._schemas = schemas
        self._access = access

    async def get(self, corpus_id: str) -> str | None:
        return await self._schemas.get(corpus_id)

    async def set(self, corpus_id: str, text: str | None) -> None:
        self._access.check_whole("the schema is one of")
        await self._schemas.set(corpus_id, text)


class RestrictedCertificates:
    """Implements `core.ports.record.Certificates`. They tell of documents that nobody can see any more, so only a
    caller that sees all documents may list the certificates of its corpora.
    """

    def __init__(self, certificates: Certificates, access: Access) -> None:
        self._certificates = certificates
        self._access = access

    async def list_removals(self, corpus_id: str | None = None) -> Sequence[Removal]:
        return await self._certificates.list_removals(corpus_id)

    async def get_last(self, corpus_id: str) -> Certificate | None:
        return await self._certificates.get_last(corpus_id)

    async def append(self, corpus_id: str, certificate: Certificate, removal: Removal | None = None) -> bool:
        return await self._certificates.append(corpus_id, certificate, removal)

    async def list(
        self, corpus: str, *, limit: int = 1000, after: tuple[str, int] | None = None
    ) -> Sequence[Certificate]:
        self._access.check_whole("certificates tell of")
        if not self._access.sees(corpus):
            raise corpus_name_missing(corpus, sorted(self._access.corpora or ()))
        return await self._certificates.list(corpus, limit=limit, after=after)
