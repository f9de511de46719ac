"""What readers see."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.filters import DocumentFilter
from core.graph import Entity

__all__ = ["DocumentPage", "FactRow", "Library", "TripleRow"]


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    data: tuple[Document, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class FactRow:
    """A fact with the names to show it by."""

    id: str
    chunk_id: str
    subject_id: str
    subject: str
    predicate: str
    object_id: str
    object: str


@dataclass(frozen=True, kw_only=True)
class TripleRow:
    """A triple with the names to show it by, and the chunks that assert it, ascending."""

    subject_id: str
    subject: str
    predicate: str
    object_id: str
    object: str
    chunk_ids: tuple[str, ...]


class Library(Protocol):
    """What readers see: current revisions only, nothing that is being deleted. Unknown ids are left out."""

    async def documents(
        self,
        corpus_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        key: str | None = None,
        state: RevisionState | None = None,
    ) -> DocumentPage:
        """By key, ascending (code points)."""
        ...

    async def document(self, corpus_id: str, document_id: str) -> Document:
        """Raises `NotFound`."""
        ...

    async def matching(self, corpus_id: str, where: DocumentFilter) -> frozenset[str]:
        """Ids of the readable documents that match."""
        ...

    async def refs(self, corpus_id: str, document_ids: Collection[str]) -> Mapping[str, DocumentRef]: ...

    async def chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]: ...

    async def chunks_of(self, corpus_id: str, document_id: str) -> list[Chunk]:
        """By position."""
        ...

    async def chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        """By `view_id`: drops what the views still hold and the record does not."""
        ...

    async def entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]: ...

    async def facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        """Facts that these chunks assert, by (chunk id, fact id)."""
        ...

    async def triples(self, corpus_id: str, triple_ids: Collection[str]) -> Mapping[str, TripleRow]:
        """By id, those that a readable chunk asserts."""
        ...
