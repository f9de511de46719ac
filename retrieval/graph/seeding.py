"""A walk whose seeds are known: PageRank from given entities, and from passages beside them."""

import numpy as np
from numpy.typing import NDArray

from retrieval.candidates.views import Found
from retrieval.graph.push import push
from retrieval.graph.snapshot import Graph
from retrieval.graph.walk import Walk

__all__ = ["walk_from"]

_NOWHERE = Found(chunks=np.zeros(0, np.int64), scores=np.zeros(0))


def walk_from(
    graph: Graph,
    entities: NDArray[np.int64],
    weights: NDArray[np.float64],
    *,
    damping: float,
    epsilon: float,
    passages: Found = _NOWHERE,
) -> Walk:
    """PageRank that restarts at the entities by their weights, and at the passages by their scores on the same scale.

    The walk that comes back tells of the entities alone, with weights that sum to 1 (if any is above 0).
    """
    seeds = np.concatenate([entities + graph.chunks, passages.chunks])
    reset = np.concatenate([weights, passages.scores])
    found = push(graph.adjacency, seeds, reset, damping=damping, epsilon=epsilon)
    count = np.searchsorted(found.nodes, graph.chunks)
    return Walk(
        links=(),
        entities=entities,
        weights=weights / weights.sum() if weights.sum() > 0 else weights,
        chunks=found.nodes[:count],
        mass=found.mass[:count],
    )
