"""The immutable snapshot of a corpus' graph at one generation, which every searcher ranks with."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges, GraphMerge, GraphRows
from retrieval.graph.adjacency import Adjacency, build_adjacency
from retrieval.graph.column_building import build_columns
from retrieval.graph.column_updates import update_columns
from retrieval.graph.columns import Columns, Ids, Ints, encode_ids
from retrieval.graph.merges import (
    MergeMap,
    apply_merges,
    list_merged_names,
    list_merges_among,
    make_merge_map,
)
from retrieval.graph.name_index import NameIndex, build_name_index
from retrieval.graph.positions import find_positions
from retrieval.graph.recent import Recent
from retrieval.graph.term_statistics import TermStatistics, count_terms

__all__ = ["GraphSnapshot", "RetrievalGraph", "build_snapshot"]

_MASKS = 4
_MERGED = 2


@dataclass(frozen=True, kw_only=True)
class RetrievalGraph:
    """The graph that a set of documents makes: node i is chunk i, or entity i - `chunks`.

    `df` (entities,) is the number of chunks that mention an entity.
    """

    chunks: int
    adjacency: Adjacency
    df: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GraphSnapshot:
    """A corpus' graph in memory. Chunks and entities are numbered in the order of their ids, so equal content has equal
    numbers.

    `titles` (chunks, 2) are the entities that each chunk's title and heading name, -1 where there is none.
    `title_shares` (entities,) is the number of chunks that have the entity there. In `columns`, entities that `merges`
    join are one; `stated` are the columns without merges, to which changes are applied. `view_order` sorts the chunks
    by their view entries.
    """

    generation: int
    columns: Columns
    stated: Columns
    merges: MergeMap
    names: NameIndex
    whole: RetrievalGraph
    statistics: TermStatistics
    titles: Ints
    title_shares: NDArray[np.int64]
    view_order: NDArray[np.int64]
    _masks: Recent[frozenset[str], RetrievalGraph] = field(default_factory=lambda: Recent(_MASKS), repr=False)
    _kept: Recent[frozenset[str], tuple[GraphMerge, ...]] = field(default_factory=lambda: Recent(_MASKS), repr=False)
    _merged: "Recent[tuple[GraphMerge, ...], GraphSnapshot]" = field(
        default_factory=lambda: Recent(_MERGED), repr=False
    )

    @property
    def has_facts(self) -> bool:
        return len(self.columns.facts) > 0

    @cached_property
    def documents(self) -> frozenset[str]:
        """The ids of the documents that have a chunk."""
        return frozenset(id.decode() for id in self.columns.document_ids.tolist())

    def apply(self, changes: GraphChanges) -> "GraphSnapshot":
        """Returns the snapshot of the later generation; this one does not change."""
        added = changes.added
        same = added.merges == self.merges.merges
        if same and not (changes.removed or changes.synonyms_of or added.chunks or len(added.synonyms)):
            return replace(self, generation=changes.generation)
        merges = self.merges if same else make_merge_map(added.merges)
        stated, removed, new = update_columns(self.stated, changes)
        statistics = self.statistics.apply(removed=removed, added=new)
        return _snapshot(changes.generation, stated, merges, statistics, (self.names, self.columns.entity_ids))

    def graph(self, documents: frozenset[str] | None = None) -> RetrievalGraph:
        """Returns the graph that these documents assert (None: all documents).

        Synonym edges are kept between entities that the documents name. The graphs of the last four filters are cached.
        """
        if documents is None:
            return self.whole
        return self._masks.get(documents) or self._masks.put(documents, self._mask(documents))

    def _mask(self, documents: frozenset[str]) -> RetrievalGraph:
        return _graph(self.columns, self.columns.chunks_of(documents))

    def restrict_merges(self, documents: frozenset[str]) -> "GraphSnapshot":
        """Returns the snapshot in which only those merges count whose two entities these documents name.

        Any other merge would tell a name that only other documents have. The snapshots of the last two sets of merges
        are cached.
        """
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

    def chunks_of_views(self, view_ids: Sequence[str]) -> NDArray[np.int64]:
        """Returns the chunk of each view entry, or -1 for entries that no chunk names."""
        return find_positions(self.columns.view_ids, encode_ids(view_ids), self.view_order)

    def chunks_with(self, chunk_ids: Sequence[str]) -> NDArray[np.int64]:
        """Returns the numbers of chunks by id, or -1 for ids that the snapshot does not have."""
        return find_positions(self.columns.chunk_ids, encode_ids(chunk_ids))

    def chunk_ids(self, chunks: Iterable[int]) -> list[str]:
        return [self.columns.chunk_ids[i].decode() for i in chunks]

    def has_any_document(self, document_ids: Collection[str]) -> bool:
        """Returns whether a chunk of any of these documents is in the snapshot."""
        return bool((find_positions(self.columns.document_ids, encode_ids(document_ids)) >= 0).any())

    def view_ids(self, chunks: Iterable[int]) -> list[str]:
        return [self.columns.view_ids[i].decode() for i in chunks]

    def document_ids(self, chunks: Iterable[int]) -> list[str]:
        return [self.columns.document_ids[self.columns.document_of[i]].decode() for i in chunks]

    def entities_with(self, entity_ids: Iterable[str]) -> NDArray[np.int64]:
        """Returns the numbers of entities by id, or -1 for ids that the snapshot does not have.

        A merged entity has the number of the entity that it is merged into.
        """
        return find_positions(self.columns.entity_ids, self.merges.encode(entity_ids))

    def entity_ids(self, entities: Iterable[int]) -> list[str]:
        return [self.columns.entity_ids[i].decode() for i in entities]


def build_snapshot(generation: int, rows: GraphRows) -> GraphSnapshot:
    """Returns the snapshot of all rows of a corpus at a generation."""
    stated = build_columns(rows)
    return _snapshot(generation, stated, make_merge_map(rows.merges), count_terms(stated.terms), None)


def _snapshot(
    generation: int,
    stated: Columns,
    merges: MergeMap,
    statistics: TermStatistics,
    old_names: tuple[NameIndex, Ids] | None,
) -> GraphSnapshot:
    columns = apply_merges(stated, merges)
    titles = find_positions(columns.entity_ids, columns.title_ids.ravel()).astype(np.int32).reshape(-1, 2)
    return GraphSnapshot(
        generation=generation,
        columns=columns,
        stated=stated,
        merges=merges,
        names=build_name_index(columns.names, columns.entity_ids, old_names, list_merged_names(columns, merges)),
        whole=_graph(columns, None),
        statistics=statistics,
        titles=titles,
        title_shares=np.bincount(titles[titles >= 0], minlength=len(columns.entity_ids)),
        view_order=np.argsort(columns.view_ids, kind="stable"),
    )


def _graph(columns: Columns, kept: NDArray[np.bool_] | None) -> RetrievalGraph:
    """Returns the graph of the chunks whose mask is True (None: all).

    A mention edge weighs 1, a fact edge the number of its assertions, a synonym edge its cosine.
    """
    mentions, facts = columns.mentions, columns.facts
    synonyms, scores = columns.synonyms, columns.scores
    chunks, entities = len(columns.chunk_ids), len(columns.entity_ids)
    if kept is not None:
        mentions, facts = mentions[kept[mentions[:, 0]]], facts[kept[facts[:, 0]]]
        named = np.zeros(entities, np.bool_)
        named[mentions[:, 1]] = True
        named[facts[:, 1:].ravel()] = True
        both = named[synonyms].all(axis=1)
        synonyms, scores = synonyms[both], scores[both]
    first = np.concatenate([mentions[:, 0], facts[:, 1] + chunks, synonyms[:, 0] + chunks]).astype(np.int64)
    second = np.concatenate([mentions[:, 1] + chunks, facts[:, 2] + chunks, synonyms[:, 1] + chunks]).astype(np.int64)
    weights = np.concatenate([np.ones(len(mentions) + len(facts), np.float32), scores])
    return RetrievalGraph(
        chunks=chunks,
        adjacency=build_adjacency(chunks + entities, first, second, weights),
        df=np.bincount(mentions[:, 1], minlength=entities),
    )
