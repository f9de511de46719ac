"""The immutable snapshot of a corpus' graph at one generation, which every searcher ranks with."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.execution.recent import Recent
from core.text.terms import Terms
from retrieval.graph.adjacency import Adjacency, build_adjacency
from retrieval.graph.arrays import Ints, Patched
from retrieval.graph.columns import MergeMap
from retrieval.graph.names import NameIndex
from retrieval.graph.terms import TermStatistics

if TYPE_CHECKING:
    from retrieval.graph.flat import FlatSnapshot

__all__ = ["GraphSnapshot", "RetrievalGraph", "join_edges"]

_MASKS = 4

Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class RetrievalGraph:
    """The graph that a set of documents makes: node i is chunk i, or entity i - `chunks`.

    `chunks` is the number of places of chunks; the last places may be free. `passages` is the number of chunks
    of the corpus. `df` (entities,) is the number of chunks that mention an entity.
    """

    chunks: int
    passages: int
    adjacency: Adjacency
    df: NDArray[np.int64] | Patched[np.int64]

    def has_edges(self, entity: int) -> bool:
        return bool(self.adjacency.degree[self.chunks + entity] > 0)


@dataclass(frozen=True, kw_only=True)
class GraphSnapshot(ABC):
    """A corpus' graph at one generation. Its numbers of chunks and entities are valid in this snapshot alone."""

    generation: int
    merges: MergeMap
    names: NameIndex
    whole: RetrievalGraph
    statistics: TermStatistics
    _masks: Recent[frozenset[str], RetrievalGraph] = field(default_factory=lambda: Recent(_MASKS), repr=False)

    @property
    @abstractmethod
    def has_facts(self) -> bool: ...

    @property
    @abstractmethod
    def documents(self) -> frozenset[str]:
        """The ids of the documents that have a chunk. Making it costs as much as there are documents."""

    @property
    @abstractmethod
    def document_count(self) -> int: ...

    @abstractmethod
    def flat(self) -> "FlatSnapshot":
        """Returns the snapshot of equal content whose rows are in canonical order, with numbers of its own."""

    def graph(self, documents: frozenset[str] | None = None) -> RetrievalGraph:
        """Returns the graph that these documents assert (None: all documents).

        Synonym edges are kept between entities that the documents name. The graphs of the last four filters are cached.
        """
        if documents is None:
            return self.whole
        return self._masks.get(documents) or self._masks.put(documents, self._mask(documents))

    def _mask(self, documents: frozenset[str]) -> RetrievalGraph:
        """Reads the rows of these documents alone."""
        whole, chunks = self.whole, self.chunks_of_documents(documents)
        owner, others, _ = whole.adjacency.rows(chunks)
        mentions = np.stack([chunks[owner], others.astype(np.int64) - whole.chunks], axis=1)
        facts = self.facts_of(chunks)
        named = np.zeros(whole.adjacency.size - whole.chunks, np.bool_)
        named[mentions[:, 1]] = True
        named[facts[:, 1:].ravel()] = True
        synonyms, scores = self.synonyms_among(named)
        return RetrievalGraph(
            chunks=whole.chunks,
            passages=whole.passages,
            adjacency=join_edges(whole.chunks, len(named), mentions, facts, synonyms, scores),
            df=np.bincount(mentions[:, 1], minlength=len(named)),
        )

    @abstractmethod
    def restrict_merges(self, documents: frozenset[str]) -> "GraphSnapshot":
        """Returns the snapshot with only the merges whose two entities these documents name.

        Any other merge would reveal a name that only other documents have. The snapshots of the last two sets of merges
        are cached.
        """

    @abstractmethod
    def chunks_of_documents(self, documents: Collection[str]) -> Numbers:
        """Returns the numbers of the chunks of these documents, ascending."""

    @abstractmethod
    def chunks_of_views(self, view_ids: Sequence[str]) -> Numbers:
        """Returns the chunk of each view entry, or -1 for entries that no chunk names."""

    @abstractmethod
    def chunks_with(self, chunk_ids: Sequence[str]) -> Numbers:
        """Returns the numbers of chunks by id, or -1 for ids that the snapshot does not have."""

    @abstractmethod
    def chunk_ids(self, chunks: Iterable[int]) -> list[str]: ...

    @abstractmethod
    def view_ids(self, chunks: Iterable[int]) -> list[str]: ...

    @abstractmethod
    def document_ids(self, chunks: Iterable[int]) -> list[str]: ...

    @abstractmethod
    def positions_of(self, chunks: Numbers) -> Numbers:
        """Returns the position of each of these chunks in its document, from 0."""

    @abstractmethod
    def has_any_document(self, document_ids: Collection[str]) -> bool:
        """Returns whether a chunk of any of these documents is in the snapshot."""

    @abstractmethod
    def entities_with(self, entity_ids: Iterable[str]) -> Numbers:
        """Returns the numbers of entities by id, or -1 for ids that the snapshot does not have.

        A merged entity has the number of the entity that it is merged into.
        """

    @abstractmethod
    def entity_ids(self, entities: Iterable[int]) -> list[str]: ...

    @abstractmethod
    def name_of(self, entity: int) -> str:
        """Returns the normalised name of an entity."""

    @abstractmethod
    def terms_of(self, chunks: Numbers) -> tuple[Terms, Numbers]:
        """Returns the stems of these chunks, and for each the index into `chunks` that it belongs to."""

    @abstractmethod
    def titles_of(self, chunks: Numbers) -> Numbers:
        """Returns the entities that each chunk's title and heading name, (n, 2), -1 where there is none."""

    @abstractmethod
    def count_titled(self, entities: Numbers) -> Numbers:
        """Returns the number of chunks whose title or heading each of these entities is."""

    @abstractmethod
    def facts_of(self, chunks: Numbers) -> Ints:
        """Returns (chunk, subject, object) of each assertion of these chunks."""

    @abstractmethod
    def facts_about(self, entities: Numbers) -> Ints:
        """Returns the assertions whose subject or object is one of these entities. It reads all facts."""

    @abstractmethod
    def synonyms_of(self, entity: int) -> dict[int, float]:
        """Returns the synonyms of an entity with their cosines."""

    @abstractmethod
    def synonyms_among(self, named: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float32]]:
        """Returns the pairs of synonyms whose mask is True for both, and their cosines."""


def join_edges(
    chunks: int, entities: int, mentions: Numbers | Ints, facts: Ints, synonyms: Ints, scores: NDArray[np.float32]
) -> Adjacency:
    """Returns the graph of these rows.

    A mention edge weighs 1, a fact edge the number of its assertions, a synonym edge its cosine.
    """
    first = np.concatenate([mentions[:, 0], facts[:, 1] + chunks, synonyms[:, 0] + chunks]).astype(np.int64)
    second = np.concatenate([mentions[:, 1] + chunks, facts[:, 2] + chunks, synonyms[:, 1] + chunks]).astype(np.int64)
    weights = np.concatenate([np.ones(len(mentions) + len(facts), np.float32), scores])
    return build_adjacency(chunks + entities, first, second, weights)
