"""The weighted, undirected graph of passages and entities in compressed sparse rows. PageRank and paths run on it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.arrays import Patched, find_positions
from retrieval.graph.terms import make_offsets


@dataclass(frozen=True, kw_only=True)
class NodeBuckets:
    """Where nodes are in an ascending list of some: node i is in the part from `starts[i >> shift]` to the next start.

    There are about as many buckets as nodes in the list, so a lookup reads a few numbers that stay in the processor's
    cache, whatever the size of the graph.
    """

    starts: NDArray[np.int32]
    shift: int


@dataclass(frozen=True, kw_only=True)
class RowChanges:
    """Edges that rows of a graph have lost and gained, for the nodes `nodes`, ascending.

    Node `nodes[k]` has lost the edges at `lost[lost_at[k]:lost_at[k + 1]]`, which are places in `Adjacency.indices`,
    ascending. It has gained edges to `indices[gained_at[k]:gained_at[k + 1]]`, with their `weights` at the same places.
    `buckets` find a node in `nodes`.
    """

    nodes: NDArray[np.int64]
    lost_at: NDArray[np.int64]
    lost: NDArray[np.int64]
    gained_at: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    buckets: NodeBuckets


@dataclass(frozen=True, kw_only=True)
class Adjacency:
    """A graph in compressed sparse rows.

    The neighbours of node i are `indices[indptr[i]:indptr[i+1]]`, ascending; `weights` has the edges' weights at the
    same places. `degree` (n,) is the sum of a node's weights. Each edge is in the rows of both of its nodes. There are
    no loops. With `changes`, rows are read by `neighbours` and `rows`, and `degree` differs at their nodes.
    Nodes beyond `indptr` have gained edges alone.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    degree: NDArray[np.float64] | Patched[np.float64]
    changes: RowChanges | None = None

    @property
    def size(self) -> int:
        return len(self.degree)

    def neighbours(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        if self.changes is None:
            row = slice(self.indptr[node], self.indptr[node + 1])
            return self.indices[row], self.weights[row]
        _, others, weights = self.rows(np.array([node]))
        return others, weights

    def rows(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Returns the edges of these nodes, in their order: the index into `nodes`, the neighbour and the weight."""
        held = nodes if self.changes is None else np.minimum(nodes, len(self.indptr) - 2)
        owner, at = spread_ranges(self.indptr[held], np.where(held == nodes, self.indptr[held + 1], self.indptr[held]))
        changes = self.changes
        if changes is None:
            return owner, self.indices[at], self.weights[at]
        kept = find_positions(changes.lost, at) < 0
        places = find_positions(changes.nodes, nodes)
        starts = np.where(places >= 0, changes.gained_at[places], 0)
        gained_by, gained = spread_ranges(starts, np.where(places >= 0, changes.gained_at[places + 1], 0))
        owner = np.concatenate([owner[kept], gained_by])
        order = np.argsort(owner, kind="stable")
        others = np.concatenate([self.indices[at[kept]], changes.indices[gained]])
        weights = np.concatenate([self.weights[at[kept]], changes.weights[gained]])
        return owner[order], others[order], weights[order]

    def count_edges(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the number of edges of each of these nodes."""
        counts = np.zeros(len(nodes), np.int64)
        held = nodes < len(self.indptr) - 1
        counts[held] = self.indptr[nodes[held] + 1] - self.indptr[nodes[held]]
        if (changes := self.changes) is not None:
            places = find_positions(changes.nodes, nodes)
            at = places[places >= 0]
            gained, lost = changes.gained_at, changes.lost_at
            counts[places >= 0] += gained[at + 1] - gained[at] - lost[at + 1] + lost[at]
        return counts


def make_buckets(nodes: NDArray[np.int64], size: int) -> NodeBuckets:
    """Returns the buckets of some of `size` nodes, ascending."""
    shift = max(size // max(len(nodes), 1), 1).bit_length() - 1
    counts = np.bincount(nodes >> shift, minlength=(size >> shift) + 1)
    return NodeBuckets(starts=make_offsets(counts).astype(np.int32), shift=shift)


def spread_ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the index of the range of each number, and the numbers, of several ranges."""
    counts = ends - starts
    owner = np.repeat(np.arange(len(starts)), counts)
    return owner, np.arange(len(owner)) + np.repeat(starts - np.cumsum(counts) + counts, counts)


def build_adjacency(
    size: int, first: NDArray[np.int64], second: NDArray[np.int64], weights: NDArray[np.float32]
) -> Adjacency:
    """Returns the graph of `size` nodes with the edges `first[i]`–`second[i]` of `weights[i]`.

    Edges may come in any order and direction. The weights of parallel edges add up. Loops and edges without a positive
    weight are left out.
    """
    counts = (first != second) & (weights > 0)
    first, second, weights = first[counts], second[counts], weights[counts]
    keys = np.minimum(first, second) * size + np.maximum(first, second)
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    if len(keys):
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        keys, weights = keys[starts], np.add.reduceat(weights.astype(np.float64), starts).astype(np.float32)
    low, high = np.divmod(keys, max(size, 1))
    # The edges are sorted by (low, high). A stable sort by row keeps columns ascending if smaller columns come first.
    rows, columns = np.concatenate([high, low]), np.concatenate([low, high]).astype(np.int32)
    weights = np.concatenate([weights, weights])
    order = np.argsort(rows, kind="stable")
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=indptr[1:])
    return Adjacency(
        indptr=indptr,
        indices=columns[order],
        weights=weights[order],
        degree=np.bincount(rows, weights=weights, minlength=size).astype(np.float64),
    )
