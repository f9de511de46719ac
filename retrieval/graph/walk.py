"""From a question's names through the graph: which entities it links to, and where PageRank from them leads."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from core.strategies import StrategyConfig
from retrieval.graph.linking import Link, link
from retrieval.graph.push import push
from retrieval.graph.snapshot import Snapshot
from retrieval.graph.truecase import name_share

__all__ = ["Walk", "WalkConfig", "walk"]


class WalkConfig(StrategyConfig):
    """How far PageRank wanders, and how exact it is."""

    damping: float = Field(default=0.85, gt=0, lt=1, description="The share of the mass that walks on at each node.")
    epsilon: float = Field(
        default=1e-5, ge=1e-8, le=1e-2, description="What a node may lack of its exact mass, per weight of its edges."
    )


@dataclass(frozen=True, kw_only=True)
class Walk:
    """`entities` are the seeds with their `weights` (which sum to 1); `mass` is PageRank at `chunks`, ascending."""

    links: tuple[Link, ...]
    entities: NDArray[np.int64]
    weights: NDArray[np.float64]
    chunks: NDArray[np.int64]
    mass: NDArray[np.float64]


def walk(snapshot: Snapshot, question: str, config: WalkConfig, documents: frozenset[str] | None = None) -> Walk:
    """PageRank from the entities that the question names, the rarer and surer the stronger; without any, an empty walk.

    With `documents` the graph is theirs alone, and a name that they do not mention is no link.
    """
    graph = snapshot.graph(documents)
    degree = graph.adjacency.degree[graph.chunks :]
    links = [
        replace(one, entities=present)
        for one in link(question, snapshot.names, name_share(snapshot.statistics))
        if (present := tuple(entity for entity in one.entities if degree[entity] > 0))
    ]
    named = np.array([entity for one in links for entity in one.entities], np.int64)
    sure = np.array([one.confidence for one in links for _ in one.entities])
    entities, place = np.unique(named, return_inverse=True)
    confidence = np.zeros(len(entities))
    np.maximum.at(confidence, place, sure)
    weights = confidence / np.maximum(graph.df[entities], 1)
    found = push(graph.adjacency, entities + graph.chunks, weights, damping=config.damping, epsilon=config.epsilon)
    count = np.searchsorted(found.nodes, graph.chunks)
    return Walk(
        links=tuple(links),
        entities=entities,
        weights=weights / weights.sum() if len(weights) else weights,
        chunks=found.nodes[:count],
        mass=found.mass[:count],
    )
