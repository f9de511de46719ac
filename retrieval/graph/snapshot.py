"""The immutable snapshot of a corpus' graph at one generation, which every searcher ranks with.

`GraphSnapshot` is what searchers see. `FlatSnapshot` has its rows in canonical order: it is built from all rows, or
mapped from a file. `layered.py` reads another snapshot together with the changes over it.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.execution.recent import Recent
from core.ports.record import GraphChanges, GraphMerge, GraphRows
from core.text.terms import Terms
from retrieval.graph.adjacency import Adjacency, build_adjacency, spread_ranges
from retrieval.graph.arrays import Ids, Ints, Patched, find_positions
from retrieval.graph.columns import (
    Columns,
    ColumnUpdate,
    MergeMap,
    apply_merges,
    build_columns,
    encode_ids,
    list_merged_names,
    list_merges_among,
    make_merge_map,
    update_columns,
)
from retrieval.graph.names import NameIndex, build_name_index
from retrieval.graph.terms import TermStatistics, count_terms, make_offsets

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
            adjacency=_join_edges(whole.chunks, len(named), mentions, facts, synonyms, scores),
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
    def all_chunks(self) -> Numbers:
        """Returns the numbers of all chunks, ascending."""

    @abstractmethod
    def documents_of(self, chunks: Numbers) -> Numbers:
        """Returns a number for the document of each of these chunks, the same for chunks of one document."""

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


def _join_edges(
    chunks: int, entities: int, mentions: Numbers | Ints, facts: Ints, synonyms: Ints, scores: NDArray[np.float32]
) -> Adjacency:
    """Returns the graph of these rows.

    A mention edge weighs 1, a fact edge the number of its assertions, a synonym edge its cosine.
    """
    first = np.concatenate([mentions[:, 0], facts[:, 1] + chunks, synonyms[:, 0] + chunks]).astype(np.int64)
    second = np.concatenate([mentions[:, 1] + chunks, facts[:, 2] + chunks, synonyms[:, 1] + chunks]).astype(np.int64)
    weights = np.concatenate([np.ones(len(mentions) + len(facts), np.float32), scores])
    return build_adjacency(chunks + entities, first, second, weights)


_MERGED = 2
_SPARE_FROM = 2_000
_SPARE_SHARE = 8


@dataclass(frozen=True, kw_only=True)
class Lookups:
    """Indexes that save reading whole columns.

    `fact_offsets` (chunks + 1,): chunk i asserts `facts[fact_offsets[i]:fact_offsets[i + 1]]`. `fact_counts`
    (entities,) is the number of facts of an entity, as subject or object. `synonym_keys` has each pair of synonyms as
    one number, ascending. `document_sizes` is the number of chunks of each document. `open_titles` are the ids of
    titles and headings that are no entities, ascending, and `open_counts` the number of each.
    """

    fact_offsets: Numbers
    fact_counts: Numbers
    synonym_keys: Numbers
    document_sizes: Numbers
    open_titles: Ids
    open_counts: Numbers


@dataclass(frozen=True, kw_only=True)
class FlatSnapshot(GraphSnapshot):
    """Chunks and entities are numbered in the order of their ids, so equal content has equal numbers.

    `titles` (chunks, 2) are the entities that each chunk's title and heading name, -1 where there is none.
    `title_shares` (entities,) is the number of chunks that have the entity there. In `columns`, entities that `merges`
    join are one; `stated` are the columns without merges, to which changes are applied. `view_order` sorts the chunks
    by their view entries.
    """

    columns: Columns
    stated: Columns
    titles: Ints
    title_shares: Numbers
    view_order: Numbers
    lookups: Lookups
    _kept: Recent[frozenset[str], tuple[GraphMerge, ...]] = field(default_factory=lambda: Recent(_MERGED), repr=False)
    _merged: "Recent[tuple[GraphMerge, ...], FlatSnapshot]" = field(default_factory=lambda: Recent(_MERGED), repr=False)

    @property
    def has_facts(self) -> bool:
        return len(self.columns.facts) > 0

    @cached_property
    def documents(self) -> frozenset[str]:
        return frozenset(id.decode() for id in self.columns.document_ids.tolist())

    @property
    def document_count(self) -> int:
        return len(self.columns.document_ids)

    def flat(self) -> "FlatSnapshot":
        return self

    def apply(self, changes: GraphChanges) -> "FlatSnapshot":
        """Returns the snapshot of the later generation; this snapshot does not change. It copies all rows."""
        added = changes.added
        same = added.merges == self.merges.merges
        if same and not (changes.removed or changes.synonyms_of or added.chunks or len(added.synonyms)):
            return replace(self, generation=changes.generation)
        merges = self.merges if same else make_merge_map(added.merges)
        return self.renew(changes.generation, update_columns(self.stated, changes), merges)

    def renew(self, generation: int, update: ColumnUpdate, merges: MergeMap) -> "FlatSnapshot":
        """Returns the snapshot of updated columns."""
        statistics = self.statistics.apply(removed=update.removed, added=update.added)
        return _snapshot(generation, update.columns, merges, statistics, (self.names, self.columns.entity_ids))

    def restrict_merges(self, documents: frozenset[str]) -> "FlatSnapshot":
        kept = self._kept.get(documents)
        if kept is None:
            kept = self._kept.put(documents, list_merges_among(self.merges, self.stated, documents))
        if kept == self.merges.merges:
            return self
        made = self._merged.get(kept)
        if made is None:
            names = (self.names, self.columns.entity_ids)
            made = self._merged.put(
                kept, _snapshot(self.generation, self.stated, make_merge_map(kept), self.statistics, names)
            )
        return replace(made, generation=self.generation)  # a later generation may have the same content

    def chunks_of_documents(self, documents: Collection[str]) -> Numbers:
        return np.flatnonzero(self.columns.chunks_of(documents))

    def all_chunks(self) -> Numbers:
        return np.arange(len(self.columns.chunk_ids))

    def documents_of(self, chunks: Numbers) -> Numbers:
        return self.columns.document_of[chunks].astype(np.int64)

    def chunks_of_views(self, view_ids: Sequence[str]) -> Numbers:
        return find_positions(self.columns.view_ids, encode_ids(view_ids), self.view_order)

    def chunks_with(self, chunk_ids: Sequence[str]) -> Numbers:
        return find_positions(self.columns.chunk_ids, encode_ids(chunk_ids))

    def chunk_ids(self, chunks: Iterable[int]) -> list[str]:
        return [self.columns.chunk_ids[i].decode() for i in chunks]

    def view_ids(self, chunks: Iterable[int]) -> list[str]:
        return [self.columns.view_ids[i].decode() for i in chunks]

    def document_ids(self, chunks: Iterable[int]) -> list[str]:
        return [self.columns.document_ids[self.columns.document_of[i]].decode() for i in chunks]

    def positions_of(self, chunks: Numbers) -> Numbers:
        return self.columns.position[chunks].astype(np.int64)

    def has_any_document(self, document_ids: Collection[str]) -> bool:
        return bool((find_positions(self.columns.document_ids, encode_ids(document_ids)) >= 0).any())

    def entities_with(self, entity_ids: Iterable[str]) -> Numbers:
        return find_positions(self.columns.entity_ids, self.merges.encode(entity_ids))

    def entity_ids(self, entities: Iterable[int]) -> list[str]:
        return [self.columns.entity_ids[i].decode() for i in entities]

    def name_of(self, entity: int) -> str:
        return self.columns.names[entity]

    def terms_of(self, chunks: Numbers) -> tuple[Terms, Numbers]:
        return self.columns.terms.of(chunks)

    def titles_of(self, chunks: Numbers) -> Numbers:
        return self.titles[chunks].astype(np.int64)

    def count_titled(self, entities: Numbers) -> Numbers:
        return self.title_shares[entities]

    def facts_of(self, chunks: Numbers) -> Ints:
        offsets = self.lookups.fact_offsets
        _, at = spread_ranges(offsets[chunks], offsets[chunks + 1])
        return self.columns.facts[at]

    def facts_about(self, entities: Numbers) -> Ints:
        wanted = np.zeros(len(self.columns.entity_ids), np.bool_)
        wanted[entities] = True
        return self.columns.facts[wanted[self.columns.facts[:, 1:]].any(axis=1)]

    def synonyms_of(self, entity: int) -> dict[int, float]:
        linked = (self.columns.synonyms == entity).any(axis=1)
        others = self.columns.synonyms[linked].sum(axis=1) - entity
        return dict(zip(others.tolist(), self.columns.scores[linked].tolist(), strict=True))

    def synonyms_among(self, named: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float32]]:
        both = named[self.columns.synonyms].all(axis=1)
        return self.columns.synonyms[both], self.columns.scores[both]


def build_snapshot(generation: int, rows: GraphRows, *, spare: int | None = None) -> FlatSnapshot:
    """Returns the snapshot of all rows of a corpus at a generation.

    `spare` is the number of free places of chunks, for changes that are laid over it; None: an eighth of the chunks.
    """
    return make_snapshot(generation, build_columns(rows), make_merge_map(rows.merges), spare=spare)


def make_snapshot(
    generation: int, stated: Columns, merges: MergeMap | None = None, *, spare: int | None = None
) -> FlatSnapshot:
    """Returns the snapshot of columns in canonical order; see `build_snapshot`."""
    return _snapshot(generation, stated, merges or MergeMap(), count_terms(stated.terms), None, spare)


def count_places(chunks: int) -> int:
    """Returns the number of places for this number of chunks, with free places for later chunks."""
    return chunks + (chunks // _SPARE_SHARE if chunks >= _SPARE_FROM else 0)


def _snapshot(
    generation: int,
    stated: Columns,
    merges: MergeMap,
    statistics: TermStatistics,
    old_names: tuple[NameIndex, Ids] | None,
    spare: int | None = None,
) -> FlatSnapshot:
    columns = apply_merges(stated, merges)
    titles = find_positions(columns.entity_ids, columns.title_ids.ravel()).astype(np.int32).reshape(-1, 2)
    return FlatSnapshot(
        generation=generation,
        columns=columns,
        stated=stated,
        merges=merges,
        names=build_name_index(columns.names, columns.entity_ids, old_names, list_merged_names(columns, merges)),
        whole=_graph(columns, spare),
        statistics=statistics,
        titles=titles,
        title_shares=np.bincount(titles[titles >= 0], minlength=len(columns.entity_ids)),
        view_order=np.argsort(columns.view_ids, kind="stable"),
        lookups=_make_lookups(columns, titles),
    )


def _graph(columns: Columns, spare: int | None) -> RetrievalGraph:
    chunks, entities = len(columns.chunk_ids), len(columns.entity_ids)
    places = count_places(chunks) if spare is None else chunks + spare
    return RetrievalGraph(
        chunks=places,
        passages=chunks,
        adjacency=_join_edges(places, entities, columns.mentions, columns.facts, columns.synonyms, columns.scores),
        df=np.bincount(columns.mentions[:, 1], minlength=entities),
    )


def _make_lookups(columns: Columns, titles: Ints) -> Lookups:
    open_ids = columns.title_ids[titles < 0]
    open_titles, open_counts = np.unique(open_ids[open_ids != b""], return_counts=True)
    return Lookups(
        fact_offsets=make_offsets(np.bincount(columns.facts[:, 0], minlength=len(columns.chunk_ids))),
        fact_counts=np.bincount(columns.facts[:, 1:].ravel(), minlength=len(columns.entity_ids)),
        synonym_keys=columns.synonyms[:, 0].astype(np.int64) << 32 | columns.synonyms[:, 1],
        document_sizes=np.bincount(columns.document_of, minlength=len(columns.document_ids)),
        open_titles=open_titles,
        open_counts=open_counts,
    )
