"""Personalized PageRank over a snapshot: from a question's names, or from given seeds, to mass on passages.

The end is about the most probable path from a question's entities to a chunk, which explains a hit.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from core.strategies import StrategyConfig
from core.trace import Trace
from retrieval.graph.adjacency import Adjacency
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.pagerank.forward_push import MAX_STEPS, forward_push
from retrieval.pagerank.name_linking import NameLink, build_name_share, link_names


def _no_numbers() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


def _no_weights() -> NDArray[np.float64]:
    return np.zeros(0)


Hubs = Annotated[
    int,
    Field(
        ge=10,
        le=1_000_000_000,
        description="Names with more passages and facts than this lead to no passage, as they lead to all alike.",
    ),
]
DEFAULT_HUBS = 10_000


class PageRankConfig(StrategyConfig):
    """Options of searchers that use Personalized PageRank."""

    damping: float = Field(
        default=0.85, gt=0, le=0.99, description="The share of a node's mass that goes on to its neighbours."
    )
    epsilon: float = Field(
        default=1e-5,
        ge=1e-8,
        le=1e-2,
        description="The largest error of a node's mass, divided by the sum of its edge weights.",
    )
    hubs: Hubs = DEFAULT_HUBS


class FactsConfig(PageRankConfig):
    """Options of searchers that also return facts of the graph."""

    facts: int = Field(
        default=10,
        ge=0,
        le=1000,
        description="The greatest number of facts of the graph that a reasoner gets with the passages.",
    )


@dataclass(frozen=True, kw_only=True)
class Seeds:
    """The reset vector: entities and passages with their weights, all on one scale; it need not sum to 1."""

    entities: NDArray[np.int64]
    entity_weights: NDArray[np.float64]
    passages: NDArray[np.int64] = field(default_factory=_no_numbers)
    passage_weights: NDArray[np.float64] = field(default_factory=_no_weights)


@dataclass(frozen=True, kw_only=True)
class GraphRanking:
    """PageRank mass of passages and of entities, and the entities that it started from.

    - `links`: the names of the question. `entities`: the seed entities with their `weights`, which sum to 1 if any is
      above 0.
    - `mass`: the PageRank mass of `chunks`. `reached_mass`: the mass of the entities `reached`. Chunks and entities
      ascend; a missing chunk or entity has no mass.
    - `complete` is false if the steps ended before the error of the masses was as small as asked for.
    - `hubs`: the seed entities that lead to no passage.
    - `over_passages` is false if the walk went over facts and synonyms alone.
    """

    links: tuple[NameLink, ...]
    entities: NDArray[np.int64]
    weights: NDArray[np.float64]
    chunks: NDArray[np.int64]
    mass: NDArray[np.float64]
    reached: NDArray[np.int64]
    reached_mass: NDArray[np.float64]
    complete: bool = True
    hubs: tuple[int, ...] = ()
    over_passages: bool = True


def rank_from_question(
    snapshot: GraphSnapshot, question: str, config: PageRankConfig, documents: frozenset[str] | None = None
) -> GraphRanking:
    """Returns PageRank from the entities that the question names; without any, a ranking without mass.

    An entity's weight is the confidence of its link divided by the number of chunks that mention it. With `documents`
    only their part of the graph is used, and entities that they do not mention are not linked.
    """
    graph = snapshot.graph(documents)
    links = tuple(
        replace(link, entities=present)
        for link in link_names(question, snapshot.names, build_name_share(snapshot.statistics))
        if (present := tuple(entity for entity in link.entities if graph.has_edges(entity)))
    )
    linked = np.array([entity for link in links for entity in link.entities], np.int64)
    confidences = np.array([link.confidence for link in links for _ in link.entities])
    entities, place = np.unique(linked, return_inverse=True)
    confidence = np.zeros(len(entities))
    np.maximum.at(confidence, place, confidences)
    seeds = Seeds(entities=entities, entity_weights=confidence / np.maximum(graph.df[entities], 1))
    return replace(
        rank_from_seeds(graph, seeds, damping=config.damping, epsilon=config.epsilon, hubs=config.hubs), links=links
    )


def rank_from_seeds(
    graph: RetrievalGraph, seeds: Seeds, *, damping: float, epsilon: float, hubs: int | None = None
) -> GraphRanking:
    """Returns PageRank that restarts at the seeds, each in proportion to its weight.

    The result names the seed entities alone, not the seed passages, and has no links.
    """
    nodes = np.concatenate([seeds.entities + graph.chunks, seeds.passages])
    weights = np.concatenate([seeds.entity_weights, seeds.passage_weights])
    found = forward_push(graph.adjacency, nodes, weights, damping=damping, epsilon=epsilon, hubs=hubs)
    count = np.searchsorted(found.nodes, graph.chunks)
    total = seeds.entity_weights.sum()
    return GraphRanking(
        links=(),
        entities=seeds.entities,
        weights=seeds.entity_weights / total if total > 0 else seeds.entity_weights,
        chunks=found.nodes[:count],
        mass=found.mass[:count],
        reached=found.nodes[count:] - graph.chunks,
        reached_mass=found.mass[count:],
        complete=found.complete,
        hubs=_find_hubs(graph, seeds.entities, hubs),
    )


def _find_hubs(graph: RetrievalGraph, entities: NDArray[np.int64], hubs: int | None) -> tuple[int, ...]:
    """Returns the entities that lead to no passage, since they have more than `hubs` edges."""
    if hubs is None:
        return ()
    return tuple(entities[graph.adjacency.count_edges(entities + graph.chunks) > hubs].tolist())


def note_limits(ranking: GraphRanking, snapshot: GraphSnapshot, trace: Trace) -> None:
    """Notes which names lead to no passage, and that PageRank ended before its error was as small as asked for."""
    if ranking.hubs:
        names = ", ".join(f'"{snapshot.name_of(entity)}"' for entity in ranking.hubs)
        trace.note(f"graph: {names}: in so many passages that the name leads to none (`hubs`)")
    if not ranking.complete:
        trace.note(
            f"graph: PageRank was ended after {MAX_STEPS:,} steps, and its masses are less exact than `epsilon` asks "
            "for; raise `epsilon` or lower `damping`"
        )


_MAX_EDGES = 5
_MAX_NODES = 2_000
_MAX_FAN = 200


def find_strongest_path(graph: Adjacency, seeds: Mapping[int, float], target: int, *, inner: int = 0) -> list[int]:
    """Returns the nodes from a seed to `target`, both included; empty if no path of at most five edges is found.

    All nodes of the path but `target` are at least `inner`.

    A random walk leaves a node along an edge with probability weight / degree, and the path is the most probable one,
    so that heavy edges and rare entities are preferred. The search runs backwards from the target, since targets have
    few neighbours and seeds may have many; a step back to `node` costs -log(weight / degree(node)). It visits at most
    2,000 nodes.
    """
    heap: list[tuple[float, bool, int, int]] = [(0.0, False, target, 0)]
    best: dict[int, float] = {target: 0.0}
    onward: dict[int, int] = {}
    for _ in range(_MAX_NODES):
        if not heap:
            break
        cost, arrived, node, edges = heapq.heappop(heap)
        if arrived:
            return _unroll(onward, node, target)
        if cost > best[node]:
            continue
        if node in seeds and node != target:
            heapq.heappush(heap, (cost - float(np.log(seeds[node])), True, node, edges))
        if edges == _MAX_EDGES:
            continue
        for other, total in _steps_back(graph, node, cost, seeds):
            if other >= inner and total < best.get(other, np.inf):
                best[other], onward[other] = total, node
                heapq.heappush(heap, (total, False, other, edges + 1))
    return []


def _steps_back(graph: Adjacency, node: int, cost: float, seeds: Mapping[int, float]) -> list[tuple[int, float]]:
    """Returns neighbours with their total costs; of a node with many neighbours only the cheapest and the seeds."""
    others, weights = graph.neighbours(node)
    totals = cost - np.log(weights / graph.degree[others])
    if len(others) > _MAX_FAN:
        cheapest = np.argpartition(totals, _MAX_FAN)[:_MAX_FAN]
        chosen = np.union1d(cheapest, np.flatnonzero(np.isin(others, list(seeds))))
        others, totals = others[chosen], totals[chosen]
    return list(zip(others.tolist(), totals.tolist(), strict=True))


def _unroll(onward: Mapping[int, int], node: int, target: int) -> list[int]:
    path = [node]
    while path[-1] != target:
        path.append(onward[path[-1]])
    return path
