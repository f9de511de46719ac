"""`Scope`: the part of a corpus' graph that is explored, at one generation."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.corpora import Corpus
from core.errors import NotFound
from retrieval.backends import RetrievalBackends
from retrieval.candidates.explanations import fetch_display_names
from retrieval.exploration.values import EntityRef
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph

__all__ = ["Scope", "open_scope"]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The graph that the passages of `documents` make (None: all documents of the corpus).

    Entities that no passage of these documents names are left out.
    """

    corpus: Corpus
    snapshot: GraphSnapshot
    documents: frozenset[str] | None
    backends: RetrievalBackends

    @property
    def graph(self) -> RetrievalGraph:
        return self.snapshot.graph(self.documents)

    def is_there(self, entity: int) -> bool:
        return self.graph.has_edges(entity)

    def number_of(self, entity_id: str) -> int:
        """Returns the number of an entity, or of the entity that it is merged into.

        Raises `NotFound` if no passage of the scope names it.
        """
        (number,) = self.snapshot.entities_with([entity_id]).tolist()
        if number < 0 or not self.is_there(number):
            raise NotFound(f"there is no entity with the id {entity_id!r} in corpus {self.corpus.name!r}")
        return int(number)

    def chunks_of(self, entity: int) -> list[int]:
        """Returns the chunks of the scope that mention an entity, ascending."""
        neighbours, _ = self.graph.adjacency.neighbours(self.graph.chunks + entity)
        return [int(chunk) for chunk in neighbours[neighbours < self.graph.chunks]]

    def may_read(self, chunks: Iterable[int]) -> list[int]:
        """Returns the chunks that belong to the documents of the scope, in the given order."""
        chunks = list(chunks)
        if self.documents is None:
            return chunks
        documents = self.snapshot.document_ids(chunks)
        return [chunk for chunk, document in zip(chunks, documents, strict=True) if document in self.documents]

    async def refs_of(self, entities: Iterable[int]) -> dict[int, EntityRef]:
        """Returns entities by number, with their display names."""
        numbers = sorted(set(entities))
        names = await fetch_display_names(numbers, self.snapshot, self.corpus.id, self.backends.contents)
        ids = self.snapshot.entity_ids(numbers)
        counts = self.graph.df[np.array(numbers, np.int64)].tolist() if numbers else []
        return {
            number: EntityRef(id=id, name=names[number], passages=count)
            for number, id, count in zip(numbers, ids, counts, strict=True)
        }


async def open_scope(backends: RetrievalBackends, corpus: Corpus, documents: frozenset[str] | None = None) -> Scope:
    """Returns the scope of these documents at the current generation (None: all documents)."""
    snapshot = await backends.snapshots.get(corpus.id)
    return Scope(corpus=corpus, snapshot=snapshot, documents=documents, backends=backends)
