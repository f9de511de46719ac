"""The graph of a snapshot and the changes over it in compressed sparse rows, some rows at a time."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.adjacency import Adjacency
from retrieval.graph.chunk_terms import make_offsets
from retrieval.graph.columns import Ints
from retrieval.graph.compaction.numbering import Numbering
from retrieval.graph.compaction.runs import BLOCK
from retrieval.graph.positions import Places

__all__ = ["Rows", "read_rows", "start_rows"]

Rows = tuple[Ints, NDArray[np.float32], NDArray[np.float64]]


def start_rows(graph: Adjacency, numbering: Numbering) -> Places:
    """Returns `Adjacency.indptr` of the result."""
    nodes = numbering.nodes
    counts = np.zeros(len(nodes), np.int64)
    held = (nodes >= 0) & (nodes < len(graph.indptr) - 1)
    at = nodes[held]
    counts[held] = graph.indptr[at + 1] - graph.indptr[at]
    if (changes := graph.changes) is not None:
        to = numbering.node_to[changes.nodes]
        differences = np.diff(changes.gained_at) - np.diff(changes.lost_at)
        counts[to[to >= 0]] += differences[to >= 0]
    return make_offsets(counts)


def read_rows(graph: Adjacency, numbering: Numbering, indptr: Places) -> Iterator[Rows]:
    """Yields `indices`, `weights` and `degree` of the result, of as many nodes as have some `BLOCK` edges together."""
    cuts = np.searchsorted(indptr, np.arange(BLOCK, indptr[-1], BLOCK))
    for start, end in pairwise(np.unique([0, *cuts.tolist(), len(indptr) - 1]).tolist()):
        yield _read_block(graph, numbering, start, end)


def _read_block(graph: Adjacency, numbering: Numbering, start: int, end: int) -> Rows:
    nodes = numbering.nodes[start:end]
    there = np.flatnonzero(nodes >= 0)
    owner, others, weights = graph.rows(nodes[there].astype(np.int64))
    owner, to = there[owner], numbering.node_to[others]
    order = np.argsort(owner << 32 | to)
    weights = weights[order]
    return to[order], weights, np.bincount(owner[order], weights=weights, minlength=end - start).astype(np.float64)
