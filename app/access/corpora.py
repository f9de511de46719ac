"""Corpora, merges and exports as the holder of a key sees them."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from app.access.access import Access
from app.access.documents import RestrictedDocuments
from core.corpora import Corpus, CorpusCounts, CorpusSettings
from core.errors import NotFound
from core.graph import EntityMerge
from core.jobs import Job
from core.ports.record import (
    Corpora,
    EntityMerges,
    Exporter,
    GraphMerge,
    Reindex,
    ReindexDifference,
    Reindexing,
)
from core.record_policy.errors import corpus_name_missing

__all__ = ["KeyedReindexing", "RestrictedCorpora", "RestrictedExporter", "RestrictedMerges"]

_SHOWN = 10
_Row = Mapping[str, object]


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

    async def delete(self, name: str, *, submitted_by: str | None = None) -> Job:
        await self.get(name)
        return await self._corpora.delete(name, submitted_by=submitted_by or self._access.key)

    async def count(self, corpus_id: str) -> CorpusCounts:
        """Raises `Forbidden` for a key with a filter."""
        self._access.check_whole("counts are those of")
        return await self._corpora.count(corpus_id)

    async def _missing(self, name: str) -> NotFound:
        return corpus_name_missing(name, [corpus.name for corpus in (await self.list())[:_SHOWN]])


class KeyedReindexing:
    """Implements `core.ports.record.Reindexing`: jobs are submitted by `key`."""

    def __init__(self, reindexing: Reindexing, key: str | None) -> None:
        self._reindexing = reindexing
        self._key = key

    async def start(self, corpus_id: str, settings: CorpusSettings, *, submitted_by: str | None = None) -> Reindex:
        return await self._reindexing.start(corpus_id, settings, submitted_by=submitted_by or self._key)

    async def list(self) -> Sequence[Reindex]:
        return await self._reindexing.list()

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        return await self._reindexing.compare(corpus_id, limit=limit)

    async def swap(self, corpus_id: str) -> Job | None:
        return await self._reindexing.swap(corpus_id)

    async def cancel(self, corpus_id: str) -> Job | None:
        return await self._reindexing.cancel(corpus_id)


class RestrictedMerges:
    """Implements `core.ports.record.EntityMerges` for a key with a filter: merges concern whole corpora."""

    def __init__(self, merges: EntityMerges, access: Access) -> None:
        self._merges = merges
        self._access = access

    async def merge(self, corpus_id: str, from_id: str, into_id: str) -> EntityMerge:
        self._access.check_whole("a merge changes the entities of")
        return await self._merges.merge(corpus_id, from_id, into_id)

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        self._access.check_whole("a merge changes the entities of")
        return await self._merges.undo(corpus_id, merge_id)

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        """Returns all merges: `app.services.graph` selects the merges of entities that the key may see."""
        return await self._merges.list(corpus_id)

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        self._access.check_whole("a merge changes the entities of")
        return await self._merges.adopt(corpus_id, merges)


class RestrictedExporter:
    """Implements `core.ports.record.Exporter`: only the rows of documents that match the filter of a key.

    The rows are read twice: entities come before the mentions that tell which of them may be seen.
    """

    def __init__(self, exporter: Exporter, documents: RestrictedDocuments) -> None:
        self._exporter = exporter
        self._documents = documents

    async def rows(self, corpus_id: str, *, canonical: bool) -> AsyncGenerator[_Row]:
        seen = _Seen(await self._documents.readable(corpus_id))
        async with aclosing(self._exporter.rows(corpus_id, canonical=canonical)) as rows:
            async for row in rows:
                seen.note(row)
        async with aclosing(self._exporter.rows(corpus_id, canonical=canonical)) as rows:
            async for row in rows:
                if seen.shows(row):
                    yield row


class _Seen:
    """The ids of the documents, chunks and entities that a key may see."""

    def __init__(self, documents: frozenset[str]) -> None:
        self._documents = documents
        self._chunks: set[object] = set()
        self._entities: set[object] = set()

    def note(self, row: _Row) -> None:
        if row["kind"] == "chunk" and row["document_id"] in self._documents:
            self._chunks.add(row["id"])
        elif row["kind"] == "mention" and row["chunk_id"] in self._chunks:
            self._entities.add(row["entity_id"])

    def shows(self, row: _Row) -> bool:
        """Returns whether the row is of a document that may be seen. A kind that is not known here is left out."""
        match row["kind"]:
            case "document":
                return row["id"] in self._documents
            case "chunk" | "extraction":
                return row["document_id"] in self._documents
            case "entity":
                return row["id"] in self._entities
            case "mention" | "fact":
                return row["chunk_id"] in self._chunks
            case "merge":
                return {row["from_id"], row["into_id"]} <= self._entities
            case "synonym":
                return {row["first_id"], row["second_id"]} <= self._entities
        return False
