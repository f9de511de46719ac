"""A snapshot read together with the changes over it. Open it when a search after a change is wrong."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges
from core.text.terms import Terms
from retrieval.graph.arrays import Ids, Ints, find_positions
from retrieval.graph.columns import encode_ids
from retrieval.graph.joined import Delta, Joined, join
from retrieval.graph.snapshot import FlatSnapshot, GraphSnapshot
from retrieval.graph.terms import PACKED

_FROM = 2_000
"""Below, copying all rows takes some hundredths of a second."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class LayeredSnapshot(GraphSnapshot):
    """Shares all that did not change with `base`. It has the merges of the base."""

    base: FlatSnapshot
    delta: Delta
    joined: Joined

    @property
    def has_facts(self) -> bool:
        return len(self.base.columns.facts) + len(self.joined.facts) > len(self.joined.lost_facts)

    @cached_property
    def documents(self) -> frozenset[str]:
        held = self.base.columns.document_ids[np.delete(np.arange(self.base.document_count), self.empty_documents)]
        return frozenset(id.decode() for id in np.concatenate([held, self.delta.added.document_ids]).tolist())

    @cached_property
    def document_count(self) -> int:
        known = find_positions(self.base.columns.document_ids, self.delta.added.document_ids)
        known[np.isin(known, self.empty_documents)] = -1
        return self.base.document_count - len(self.empty_documents) + int((known < 0).sum())

    @cached_property
    def empty_documents(self) -> Numbers:
        """The numbers of the base's documents without remaining chunks, ascending."""
        documents, counts = np.unique(self.base.columns.document_of[self.delta.removed], return_counts=True)
        empty: Numbers = documents[self.base.lookups.document_sizes[documents] == counts].astype(np.int64)
        return empty

    @cached_property
    def _flat(self) -> FlatSnapshot:
        return self.base.renew(self.generation, self.delta.merge_into(self.base), self.merges)

    def flat(self) -> FlatSnapshot:
        return self._flat

    def restrict_merges(self, documents: frozenset[str]) -> GraphSnapshot:
        return self if not self.merges else self.flat().restrict_merges(documents)

    def chunks_of_documents(self, documents: Collection[str]) -> Numbers:
        held = self.base.chunks_of_documents(documents)
        added = np.flatnonzero(self.delta.added.chunks_of(documents)) + self.joined.first_chunk
        return np.concatenate([held[find_positions(self.delta.removed, held) < 0], added])

    def all_chunks(self) -> Numbers:
        held = np.delete(self.base.all_chunks(), self.delta.removed)
        return np.concatenate([held, np.arange(len(self.delta.added.chunk_ids)) + self.joined.first_chunk])

    def documents_of(self, chunks: Numbers) -> Numbers:
        first, added = self.joined.first_chunk, self.delta.added
        known = find_positions(self.base.columns.document_ids, added.document_ids)
        numbers = np.where(known >= 0, known, self.base.document_count + np.arange(len(known)))
        held = chunks < first
        out = np.empty(len(chunks), np.int64)
        out[held] = self.base.documents_of(chunks[held])
        out[~held] = numbers[added.document_of[chunks[~held] - first]]
        return out

    def chunks_of_views(self, view_ids: Sequence[str]) -> Numbers:
        order = np.argsort(self.delta.added.view_ids, kind="stable")
        added = find_positions(self.delta.added.view_ids, encode_ids(view_ids), order)
        return self._choose_chunks(self.base.chunks_of_views(view_ids), added)

    def chunks_with(self, chunk_ids: Sequence[str]) -> Numbers:
        added = find_positions(self.delta.added.chunk_ids, encode_ids(chunk_ids))
        return self._choose_chunks(self.base.chunks_with(chunk_ids), added)

    def _choose_chunks(self, held: Numbers, added: Numbers) -> Numbers:
        """Returns the numbers of chunks by their places in the base and in the delta."""
        held = np.where(find_positions(self.delta.removed, held) >= 0, -1, held)
        return np.where(added >= 0, added + self.joined.first_chunk, held)

    def chunk_ids(self, chunks: Iterable[int]) -> list[str]:
        return _take(self.base.columns.chunk_ids, self.delta.added.chunk_ids, chunks)

    def view_ids(self, chunks: Iterable[int]) -> list[str]:
        return _take(self.base.columns.view_ids, self.delta.added.view_ids, chunks)

    def document_ids(self, chunks: Iterable[int]) -> list[str]:
        first, held, added = self.joined.first_chunk, self.base.columns, self.delta.added
        return [
            (
                held.document_ids[held.document_of[i]]
                if i < first
                else added.document_ids[added.document_of[i - first]]
            ).decode()
            for i in chunks
        ]

    def positions_of(self, chunks: Numbers) -> Numbers:
        first = self.joined.first_chunk
        held = chunks < first
        out = np.empty(len(chunks), np.int64)
        out[held] = self.base.columns.position[chunks[held]]
        out[~held] = self.delta.added.position[chunks[~held] - first]
        return out

    def has_any_document(self, document_ids: Collection[str]) -> bool:
        held = find_positions(self.base.columns.document_ids, encode_ids(document_ids))
        added = find_positions(self.delta.added.document_ids, encode_ids(document_ids))
        return bool((added >= 0).any() or ((held >= 0) & ~np.isin(held, self.empty_documents)).any())

    def entities_with(self, entity_ids: Iterable[str]) -> Numbers:
        ids = self.merges.encode(entity_ids)
        held = find_positions(self.base.columns.entity_ids, ids)
        held[find_positions(self.joined.gone, held) >= 0] = -1
        new = find_positions(self.joined.new_ids, ids)
        return np.where(new >= 0, new + self._held, held)

    @property
    def _held(self) -> int:
        return len(self.base.columns.entity_ids)

    def entity_ids(self, entities: Iterable[int]) -> list[str]:
        return _take(self.base.columns.entity_ids, self.joined.new_ids, entities)

    def name_of(self, entity: int) -> str:
        if entity < self._held:
            return self.base.name_of(entity)
        assert self.names.added is not None  # noqa: S101 - for the type checker: `join` makes it
        return self.names.added.names[entity - self._held]

    def terms_of(self, chunks: Numbers) -> tuple[Terms, Numbers]:
        first = self.joined.first_chunk
        held, added = np.flatnonzero(chunks < first), np.flatnonzero(chunks >= first)
        rows, owner = self.base.terms_of(chunks[held])
        new_rows, new_owner = self.delta.added.terms.of(chunks[added] - first)
        owner = np.concatenate([held[owner], added[new_owner]])
        order = np.argsort(owner, kind="stable")
        packed = np.concatenate([rows.view(PACKED), new_rows.view(PACKED)])
        return packed[order].view(rows.dtype), owner[order]

    def titles_of(self, chunks: Numbers) -> Numbers:
        first = self.joined.first_chunk
        ids = np.zeros((len(chunks), 2), "S32")
        held = chunks < first
        ids[held] = self.base.columns.title_ids[chunks[held]]
        ids[~held] = self.delta.added.title_ids[chunks[~held] - first]
        at = find_positions(self.base.columns.entity_ids, ids.ravel())
        at[find_positions(self.joined.gone, at) >= 0] = -1
        new = find_positions(self.joined.new_ids, ids.ravel())
        return np.where(new >= 0, new + self._held, at).reshape(-1, 2)

    def count_titled(self, entities: Numbers) -> Numbers:
        counts: Numbers = self.joined.titled[entities]
        return counts

    def facts_of(self, chunks: Numbers) -> Ints:
        held = chunks[chunks < self.joined.first_chunk]
        added = self.joined.facts[np.isin(self.joined.facts[:, 0], chunks)]
        return np.concatenate([self.base.facts_of(held), added.astype(np.int32)])

    def facts_about(self, entities: Numbers) -> Ints:
        held = self.base.facts_about(entities[entities < self._held])
        held = held[find_positions(self.delta.removed, held[:, 0]) < 0]
        added = self.joined.facts[np.isin(self.joined.facts[:, 1:], entities).any(axis=1)]
        return np.concatenate([held, added.astype(np.int32)])

    def synonyms_of(self, entity: int) -> dict[int, float]:
        named = np.zeros(self._held + len(self.joined.new_ids), np.bool_)
        pairs, scores = self._list_synonyms()
        named[entity] = True
        linked = named[pairs].any(axis=1)
        others = pairs[linked].sum(axis=1) - entity
        return dict(zip(others.tolist(), scores[linked].tolist(), strict=True))

    def synonyms_among(self, named: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float32]]:
        pairs, scores = self._list_synonyms()
        both = named[pairs].all(axis=1)
        return pairs[both], scores[both]

    def _list_synonyms(self) -> tuple[Ints, NDArray[np.float32]]:
        """Copies all synonyms, for what is not done in each search."""
        kept = np.ones(len(self.base.columns.synonyms), np.bool_)
        kept[self.joined.lost_synonyms] = False
        pairs = np.concatenate([self.base.columns.synonyms[kept], self.joined.synonyms.astype(np.int32)])
        return pairs, np.concatenate([self.base.columns.scores[kept], self.joined.scores])


def follow(snapshot: GraphSnapshot, changes: GraphChanges, *, least: int = _FROM) -> GraphSnapshot:
    """Returns the snapshot of the later generation; the given snapshot does not change.

    The changes are laid over it, at a cost that does not depend on the size of the corpus. All rows are copied if:

    - the corpus has fewer than `least` passages,
    - it has merges of entities, or
    - no place is left for new chunks.
    """
    added = changes.added
    layers = isinstance(snapshot, LayeredSnapshot)
    base = snapshot.base if isinstance(snapshot, LayeredSnapshot) else snapshot.flat()
    delta = snapshot.delta if isinstance(snapshot, LayeredSnapshot) else Delta()
    if not layers and not (changes.removed or changes.synonyms_of or added.chunks or len(added.synonyms)):
        return snapshot.flat().apply(changes)
    if added.merges or base.merges or base.whole.passages < least:
        return snapshot.flat().apply(changes)
    delta = delta.apply(base, changes)
    if len(base.columns.chunk_ids) + len(delta.added.chunk_ids) > base.whole.chunks:
        return snapshot.flat().apply(changes)
    joined = join(base, delta)
    return LayeredSnapshot(
        generation=changes.generation,
        merges=base.merges,
        names=joined.names,
        whole=joined.whole,
        statistics=joined.statistics,
        base=base,
        delta=delta,
        joined=joined,
    )


def _take(held: Ids, added: Ids, at: Iterable[int]) -> list[str]:
    return [(held[i] if i < len(held) else added[i - len(held)]).decode() for i in at]
