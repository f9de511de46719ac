"""The port of the contents of documents: chunks, entities, facts and triples as readers see them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.documents import Chunk
from core.graph import Entity

__all__ = ["Contents", "FactRow", "TripleRow"]


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
    """A triple with the names to show it by, and the ids of the chunks that assert it, ascending."""

    subject_id: str
    subject: str
    predicate: str
    object_id: str
    object: str
    chunk_ids: tuple[str, ...]


class Contents(Protocol):
    """Contents of current revisions of documents that are enabled and not being deleted. Unknown ids are left out."""

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]: ...

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        """Returns the chunks of a document by position, also of one that is not enabled: all, or the first `limit`
        after the position `after`.
        """
        ...

    async def get_surroundings(
        self, corpus_id: str, chunk_ids: Collection[str], distance: int
    ) -> Mapping[str, list[Chunk]]:
        """Returns, by id, each chunk among those of its document that are at most `distance` positions away.

        The chunks of a list are of one revision, by position.
        """
        ...

    async def get_chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        """Returns chunks by `view_id`, also those of documents that are not enabled.

        Leaves out entries that the views hold and the record does not.
        """
        ...

    async def get_entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]: ...

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        """Returns the facts that these chunks assert, by (chunk id, fact id)."""
        ...

    async def get_triples(
        self, corpus_id: str, triple_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, TripleRow]:
        """Returns the triples that a readable chunk asserts, by id; with `enabled=None` one of any document."""
        ...
