"""The edges of a graph that changes have taken away and added, without copying the rows that they belong to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.adjacency import Adjacency, RowChanges, make_buckets, spread_ranges
from retrieval.graph.chunk_terms import make_offsets
from retrieval.graph.patched import Patched
from retrieval.graph.positions import sort_unique

__all__ = ["EdgeChanges", "find_edges"]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class EdgeChanges:
    """Edges as (node, node), each once: those `lost`, which the graph has, and those `gained` with their `weights`."""

    lost: Numbers
    gained: Numbers
    weights: NDArray[np.float32]

    def lay_over(self, graph: Adjacency, size: int) -> Adjacency:
        """Returns the graph of `size` nodes with these changes, which shares all of its edges with `graph`."""
        keys = np.concatenate([_make_keys(self.lost), _make_keys(self.lost[:, ::-1])])
        keys.sort()  # in the order of the rows, so that neighbouring searches read neighbouring memory
        lost_from = keys >> 32
        lost = find_edges(graph, lost_from, keys & 0xFFFFFFFF)
        keys = np.concatenate([_make_keys(self.gained), _make_keys(self.gained[:, ::-1])])
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


def _make_keys(edges: Numbers) -> Numbers:
    """Returns each edge as one number, which sorts by its first node."""
    keys: Numbers = edges[:, 0] << 32 | edges[:, 1]
    return keys


def find_edges(graph: Adjacency, nodes: Numbers, others: Numbers) -> Numbers:
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


def list_edges(graph: Adjacency, nodes: Numbers) -> tuple[Numbers, Numbers]:
    """Returns the edges of some nodes of a graph without changes: the index into `nodes`, and the neighbour."""
    owner, at = spread_ranges(graph.indptr[nodes], graph.indptr[nodes + 1])
    return owner, graph.indices[at].astype(np.int64)
