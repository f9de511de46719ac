"""The common numbers of a snapshot and the changes over it, and all that follows from them.

A `Delta` has the changes since a snapshot was built, as small columns: the cost of further changes grows with the size
of these. Edges that were deleted and added are kept without copying the rows that they belong to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges, GraphRows
from core.ports.record.graph import graph_rows
from retrieval.graph.adjacency import Adjacency, RowChanges, make_buckets
from retrieval.graph.arrays import Ids, Patched, find_positions, sort_unique
from retrieval.graph.columns import Columns, ColumnUpdate, build_columns, encode_ids, join_columns, read_columns
from retrieval.graph.names import NameIndex, build_name_index, pack_names
from retrieval.graph.snapshot import FlatSnapshot, RetrievalGraph
from retrieval.graph.terms import ChunkTerms, TermStatistics, make_offsets

Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Joined:
    """A base and its changes under common numbers.

    Chunks and entities of the base keep their numbers. Chunk i of `Delta.added` is `first_chunk` + i, and new entities
    follow the entities of the base in the order of their ids, `new_ids`.
    - `entity_of`: the number of each entity of `Delta.added`.
    - `gone`: entities of the base that nothing names any more, ascending.
    - `mentions`, `facts`: the mentions and facts that were added; `lost_facts`: the facts of removed chunks.
    - `synonyms`, `scores`: the added synonyms; `lost_synonyms`: the deleted places of `Columns.synonyms`.
    - `titled`, `fact_counts`: the numbers of titles and of facts of each entity.
    """

    first_chunk: int
    new_ids: Ids
    entity_of: Numbers
    gone: Numbers
    mentions: Numbers
    facts: Numbers
    lost_facts: Numbers
    synonyms: Numbers
    scores: NDArray[np.float32]
    lost_synonyms: Numbers
    names: NameIndex
    whole: RetrievalGraph
    statistics: TermStatistics
    titled: Patched[np.int64]
    fact_counts: Patched[np.int64]


Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Delta:
    """The difference between a snapshot, its base, and a later generation.

    `added` has the chunks that came since, also in place of others, with their mentions and facts, and no synonyms.
    `removed` are the numbers of deleted chunks of the base, ascending. The base's synonyms of the entities `unlinked`
    count no more; `synonyms` has the current synonyms, by the ids of their entities, and `names` their names.
    """

    added: Columns = field(default_factory=lambda: build_columns(graph_rows()))
    removed: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))
    unlinked: frozenset[str] = frozenset()
    synonyms: Mapping[Pair, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def apply(self, base: FlatSnapshot, changes: GraphChanges) -> "Delta":
        """Returns the difference after further changes; this difference does not change."""
        new = _without_synonyms(read_columns(changes.added))
        removed = encode_ids(changes.removed)
        update = join_columns(self.added, new, removed=removed, unlinked=encode_ids(()))
        gone = find_positions(base.columns.chunk_ids, np.unique(np.concatenate([removed, new.chunk_ids])))
        unlinked = frozenset(changes.synonyms_of)
        synonyms = {pair: score for pair, score in self.synonyms.items() if unlinked.isdisjoint(pair)}
        found = _list_synonyms(changes.added)
        for pair, score in found:
            synonyms[pair] = max(score, synonyms.get(pair, 0.0))
        ends = {id for pair, _ in found for id in pair}
        at = find_positions(changes.added.entity_ids, encode_ids(ends))
        fresh = {id: changes.added.names[place] for id, place in zip(ends, at.tolist(), strict=True)}
        return Delta(
            added=update.columns,
            removed=sort_unique(self.removed, gone[gone >= 0]),
            unlinked=self.unlinked | unlinked,
            synonyms=synonyms,
            names={**self.names, **fresh},
        )

    def merge_into(self, base: FlatSnapshot) -> ColumnUpdate:
        """Returns the columns of the base with these changes. All rows are copied."""
        new = self._join_synonyms()
        removed = base.stated.chunk_ids[self.removed]
        return join_columns(base.stated, new, removed=removed, unlinked=encode_ids(self.unlinked))

    def _join_synonyms(self) -> Columns:
        """Returns the added columns with the synonyms, and with the entities that only synonyms name."""
        listed = {id for pair in self.synonyms for id in pair}
        ids = np.unique(np.concatenate([self.added.entity_ids, encode_ids(listed)]))
        at = find_positions(self.added.entity_ids, ids)
        names = [
            self.added.names[place] if place >= 0 else self.names[id.decode()]
            for place, id in zip(at.tolist(), ids.tolist(), strict=True)
        ]
        to = find_positions(ids, self.added.entity_ids).astype(np.int32)
        mentions, facts = self.added.mentions.copy(), self.added.facts.copy()
        mentions[:, 1], facts[:, 1:] = to[mentions[:, 1]], to[facts[:, 1:]]
        ends = find_positions(ids, encode_ids(id for pair in self.synonyms for id in pair))
        return replace(
            self.added,
            entity_ids=ids,
            names=pack_names(names),
            mentions=mentions,
            facts=facts,
            synonyms=ends.astype(np.int32).reshape(-1, 2),
            scores=np.fromiter(self.synonyms.values(), np.float32, len(self.synonyms)),
        )


def join(base: FlatSnapshot, delta: Delta) -> Joined:
    columns, added, graph = base.columns, delta.added, base.whole
    chunks, held = len(columns.chunk_ids), len(columns.entity_ids)
    known = find_positions(columns.entity_ids, added.entity_ids)
    new_ids = added.entity_ids[known < 0]
    entity_of = known.copy()
    entity_of[known < 0] = held + np.arange(len(new_ids))
    size = held + len(new_ids)
    mentions = np.stack([added.mentions[:, 0] + np.int64(chunks), entity_of[added.mentions[:, 1]]], axis=1)
    facts = np.concatenate([added.facts[:, :1] + np.int64(chunks), entity_of[added.facts[:, 1:]]], axis=1)
    lost_facts = base.facts_of(delta.removed).astype(np.int64)
    owner, others, _ = graph.adjacency.rows(delta.removed)
    lost_mentions = np.stack([delta.removed[owner], others.astype(np.int64) - graph.chunks], axis=1)
    df = _patch(np.asarray(graph.df), size, lost_mentions[:, 1], mentions[:, 1])
    fact_counts = _patch(base.lookups.fact_counts, size, lost_facts[:, 1:].ravel(), facts[:, 1:].ravel())
    touched = sort_unique(lost_mentions[:, 1], lost_facts[:, 1:].ravel())
    gone = touched[(df[touched] == 0) & (fact_counts[touched] == 0)]
    there = _Ends(columns.entity_ids, new_ids, gone)
    synonyms, scores, lost_synonyms = _join_synonyms(base, delta, there, _find_lost_synonyms(base, delta, gone))
    pairs = _weigh_pairs(base, facts, lost_facts, synonyms, scores, lost_synonyms)
    to_nodes = np.array([0, graph.chunks])
    edges = EdgeChanges(
        lost=np.concatenate([lost_mentions + to_nodes, pairs.lost]),
        gained=np.concatenate([mentions + to_nodes, pairs.gained]),
        weights=np.concatenate([np.ones(len(mentions), np.float32), pairs.weights]),
    )
    return Joined(
        first_chunk=chunks,
        new_ids=new_ids,
        entity_of=entity_of,
        gone=gone,
        mentions=mentions,
        facts=facts,
        lost_facts=lost_facts,
        synonyms=synonyms,
        scores=scores,
        lost_synonyms=lost_synonyms,
        names=_join_names(base, delta, known, gone),
        whole=RetrievalGraph(
            chunks=graph.chunks,
            passages=chunks - len(delta.removed) + len(added.chunk_ids),
            adjacency=edges.lay_over(graph.adjacency, graph.chunks + size),
            df=df,
        ),
        statistics=base.statistics.layer(removed=select_terms(base, delta.removed), added=added.terms),
        titled=_count_titles(base, delta, there, size),
        fact_counts=fact_counts,
    )


@dataclass(frozen=True)
class _Ends:
    """Finds the numbers of entities that are there."""

    held: Ids
    new_ids: Ids
    gone: Numbers

    def find(self, ids: Ids) -> Numbers:
        return self.select(find_positions(self.held, ids), ids)

    def select(self, held: Numbers, ids: Ids) -> Numbers:
        """Returns the numbers of `ids`, -1 for unknown ids. `held` are their places in the base, or -1."""
        at = held.copy()
        at[find_positions(self.gone, at) >= 0] = -1
        new = find_positions(self.new_ids, ids)
        return np.where(new >= 0, new + len(self.held), at)


def _patch(base: Numbers, size: int, lost: Numbers, gained: Numbers) -> Patched[np.int64]:
    """Returns the counts, each less its occurrences in `lost` and plus its occurrences in `gained`."""
    places, which = np.unique(np.concatenate([lost, gained]), return_inverse=True)
    change = np.bincount(which, np.repeat([-1.0, 1.0], [len(lost), len(gained)]), len(places)).astype(np.int64)
    old = np.zeros(len(places), np.int64)
    inside = places < len(base)
    old[inside] = base[places[inside]]
    return Patched(base=base, places=places, values=old + change, size=size)


def _find_lost_synonyms(base: FlatSnapshot, delta: Delta, gone: Numbers) -> Numbers:
    """Returns the places of the base's synonyms of entities that are unlinked or gone, ascending."""
    unlinked = find_positions(base.columns.entity_ids, encode_ids(delta.unlinked))
    ends = sort_unique(unlinked[unlinked >= 0], gone)
    owner, nodes, _ = base.whole.adjacency.rows(ends + base.whole.chunks)
    others = nodes.astype(np.int64) - base.whole.chunks
    places = find_positions(base.lookups.synonym_keys, _make_keys(np.stack([ends[owner], others], axis=1)))
    return sort_unique(places[(places >= 0) & (others >= 0)])


def _join_synonyms(
    base: FlatSnapshot, delta: Delta, there: _Ends, lost: Numbers
) -> tuple[Numbers, NDArray[np.float32], Numbers]:
    """Returns the pairs that changes have brought, between entities that are there, and their cosines.

    Returns also the places of the base's synonyms that count no more: of a pair that both have, the greater cosine
    counts.
    """
    ends = there.find(encode_ids(id for pair in delta.synonyms for id in pair)).reshape(-1, 2)
    scores = np.fromiter(delta.synonyms.values(), np.float32, len(delta.synonyms))
    kept = (ends >= 0).all(axis=1)
    pairs, scores = np.sort(ends[kept], axis=1), scores[kept]
    places = find_positions(base.lookups.synonym_keys, _make_keys(pairs))
    both = (places >= 0) & (find_positions(lost, places) < 0)
    scores[both] = np.maximum(scores[both], base.columns.scores[places[both]])
    return pairs, scores, sort_unique(lost, places[both])


@dataclass(frozen=True, kw_only=True)
class EdgeChanges:
    """Edges as (node, node), each once: those `lost`, which the graph has, and those `gained` with their `weights`."""

    lost: Numbers
    gained: Numbers
    weights: NDArray[np.float32]

    def lay_over(self, graph: Adjacency, size: int) -> Adjacency:
        """Returns the graph of `size` nodes with these changes, which shares all of its edges with `graph`."""
        keys = np.concatenate([_make_edge_keys(self.lost), _make_edge_keys(self.lost[:, ::-1])])
        keys.sort()  # in the order of the rows, so that neighbouring searches read neighbouring memory
        lost_from = keys >> 32
        lost = _find_edges(graph, lost_from, keys & 0xFFFFFFFF)
        keys = np.concatenate([_make_edge_keys(self.gained), _make_edge_keys(self.gained[:, ::-1])])
        order = np.argsort(keys)
        gained_from, gained_to = keys[order] >> 32, keys[order] & 0xFFFFFFFF
        weights = np.concatenate([self.weights, self.weights])[order]
        nodes = sort_unique(lost_from, gained_from)
        by_loss, by_gain = np.searchsorted(nodes, lost_from), np.searchsorted(nodes, gained_from)
        held = nodes < graph.size
        degree = np.zeros(len(nodes))
        degree[held] = graph.degree[nodes[held]]
        degree -= np.bincount(by_loss, graph.weights[lost], len(nodes))
        degree += np.bincount(by_gain, weights, len(nodes))
        changes = RowChanges(
            nodes=nodes,
            lost_at=make_offsets(np.bincount(by_loss, minlength=len(nodes))),
            lost=lost,
            gained_at=make_offsets(np.bincount(by_gain, minlength=len(nodes))),
            indices=gained_to.astype(np.int32),
            weights=weights,
            buckets=make_buckets(nodes, size),
        )
        return Adjacency(
            indptr=graph.indptr,
            indices=graph.indices,
            weights=graph.weights,
            degree=Patched(base=np.asarray(graph.degree), places=nodes, values=degree, size=size),
            changes=changes,
        )


def _weigh_pairs(
    base: FlatSnapshot,
    facts: Numbers,
    lost_facts: Numbers,
    synonyms: Numbers,
    scores: NDArray[np.float32],
    lost_synonyms: Numbers,
) -> EdgeChanges:
    """Returns the edges between entities whose weight differs: the number of facts plus the cosine."""
    lost_pairs = base.columns.synonyms[lost_synonyms].astype(np.int64)
    listed = [facts[:, 1:], lost_facts[:, 1:], synonyms, lost_pairs]
    keys = [_make_keys(pairs) for pairs in listed]
    pairs = sort_unique(*keys)
    first, second = pairs >> 32, pairs & 0xFFFFFFFF
    pairs = pairs[first != second]
    ends = np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1)
    graph, chunks = base.whole.adjacency, base.whole.chunks
    at = _find_edges(graph, ends[:, 0] + chunks, ends[:, 1] + chunks)
    weight = np.where(at >= 0, graph.weights[at] if len(graph.weights) else 0.0, 0.0).astype(np.float64)
    place = find_positions(base.lookups.synonym_keys, pairs)
    held = base.columns.scores[place] if len(base.columns.scores) else np.zeros(len(pairs), np.float32)
    cosine = np.where(place >= 0, held, 0.0).astype(np.float64)
    count = np.rint(weight - cosine)
    for sign, some in ((1, keys[0]), (-1, keys[1])):
        found = find_positions(pairs, some)
        count += sign * np.bincount(found[found >= 0], minlength=len(pairs))
    cosine[find_positions(lost_synonyms, place) >= 0] = 0.0
    brought = find_positions(pairs, keys[2])
    np.maximum.at(cosine, brought[brought >= 0], scores[brought >= 0].astype(np.float64))
    new = (count + cosine).astype(np.float32)
    differs = new != weight.astype(np.float32)
    nodes = ends + chunks
    return EdgeChanges(
        lost=nodes[differs & (at >= 0)], gained=nodes[differs & (new > 0)], weights=new[differs & (new > 0)]
    )


def _make_keys(pairs: Numbers) -> Numbers:
    """Returns each pair as one number, as in `Lookups.synonym_keys`."""
    keys: Numbers = pairs.min(axis=1, initial=2**31) << 32 | pairs.max(axis=1, initial=0)
    return keys


def _join_names(base: FlatSnapshot, delta: Delta, known: Numbers, gone: Numbers) -> NameIndex:
    index, new = base.names, build_name_index(delta.added.names.select(known < 0))
    entity_of = (new.entity_of + len(base.columns.entity_ids)).astype(np.int32)
    return NameIndex(
        names=index.names,
        entity_of=index.entity_of,
        hashes=index.hashes,
        order=index.order,
        added=NameIndex(names=new.names, entity_of=entity_of, hashes=new.hashes, order=new.order),
        gone=frozenset(gone.tolist()),
    )


def _count_titles(base: FlatSnapshot, delta: Delta, there: _Ends, size: int) -> Patched[np.int64]:
    """Returns for each entity the number of chunks whose title or heading it is."""
    known = base.titles[delta.removed].ravel().astype(np.int64)
    lost = there.select(known, base.columns.title_ids[delta.removed].ravel())
    gained = there.find(delta.added.title_ids[delta.added.title_ids != b""])
    lookups, held = base.lookups, len(there.held)
    counts = np.zeros(size, np.int64) if not held else base.title_shares
    opened = find_positions(lookups.open_titles, there.new_ids)
    patch = _patch(counts[:held], size, lost[lost >= 0], gained[gained >= 0])
    places = held + np.flatnonzero(opened >= 0)
    values = lookups.open_counts[opened[opened >= 0]]
    found = find_positions(patch.places, places)
    patch.values[found[found >= 0]] += values[found >= 0]
    missing = found < 0
    at = np.concatenate([patch.places, places[missing]])
    order = np.argsort(at, kind="stable")
    return Patched(
        base=patch.base, places=at[order], values=np.concatenate([patch.values, values[missing]])[order], size=size
    )


def select_terms(base: FlatSnapshot, chunks: Numbers) -> ChunkTerms:
    """Returns the terms of some chunks, in their order."""
    rows, owner = base.columns.terms.of(chunks)
    return ChunkTerms(offsets=make_offsets(np.bincount(owner, minlength=len(chunks))), rows=rows)


def _without_synonyms(columns: Columns) -> Columns:
    return replace(columns, synonyms=columns.synonyms[:0], scores=columns.scores[:0])


def _list_synonyms(rows: GraphRows) -> list[tuple[Pair, float]]:
    """Returns pairs of ids, the smaller first, with their cosines."""
    ids: Ids = rows.entity_ids
    pairs = np.sort(rows.synonyms, axis=1).tolist()
    return [
        ((ids[first].decode(), ids[second].decode()), score)
        for (first, second), score in zip(pairs, rows.scores.tolist(), strict=True)
    ]


_Floats = NDArray[np.float64]


def _make_edge_keys(edges: Numbers) -> Numbers:
    """Returns each edge as one number, which sorts by its first node."""
    keys: Numbers = edges[:, 0] << 32 | edges[:, 1]
    return keys


def _find_edges(graph: Adjacency, nodes: Numbers, others: Numbers) -> Numbers:
    """Returns the places of the edges from `nodes` to `others` in a graph without changes, -1 where there is none.

    All rows are halved at the same time.
    """
    inside = (nodes < len(graph.indptr) - 1) & (others < len(graph.indptr) - 1)
    held = np.where(inside, nodes, 0)
    low = graph.indptr[held] if len(graph.indptr) > 1 else np.zeros(len(nodes), np.int64)
    end = np.where(inside, graph.indptr[held + 1], low) if len(graph.indptr) > 1 else low
    high = end.copy()
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_]) // 2
        is_less = graph.indices[middle] < others[open_]
        low[open_[is_less]] = middle[is_less] + 1
        high[open_[~is_less]] = middle[~is_less]
    found = np.full(len(nodes), -1, np.int64)
    there = np.flatnonzero(low < end)
    same = there[graph.indices[low[there]] == others[there]]
    found[same] = low[same]
    return found
