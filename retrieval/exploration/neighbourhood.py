"""The subgraph near an entity, for drawing."""

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from core.execution.threads import compute
from core.ports.retrieval import PathStep
from retrieval.candidates.explanations import describe_paths, label_passages
from retrieval.exploration.scope import Scope
from retrieval.exploration.values import EdgeKind, NodeKind, Subgraph, SubgraphEdge, SubgraphNode
from retrieval.graph.adjacency import Adjacency

__all__ = ["draw_neighbourhood"]

_MAX_FAN = 200


async def draw_neighbourhood(scope: Scope, entity_id: str, *, depth: int, limit: int) -> Subgraph:
    """Returns at most `limit` nodes that are at most `depth` edges from an entity, and all edges between them.

    Two entities that one passage mentions are two edges apart. A node is added by the most probable path that leads to
    it from the entity, where a random walk leaves a node along an edge with probability weight / degree; so the
    subgraph is connected. Raises `NotFound` if no passage of the scope names the entity.
    """
    graph = scope.graph
    start = graph.chunks + scope.number_of(entity_id)
    distances, truncated = await compute(_grow, graph.adjacency, start, depth, limit)
    edges = _edges_between(graph.adjacency, distances)
    steps = await describe_paths(
        [edge[:2] for edge in edges], scope.snapshot, scope.corpus.id, scope.documents, scope.backends
    )
    labels = await _label(scope, list(distances))
    ids = {node: _id_of(scope, node) for node in distances}
    return Subgraph(
        nodes=tuple(
            SubgraphNode(
                id=ids[node],
                kind=NodeKind.PASSAGE if node < graph.chunks else NodeKind.ENTITY,
                label=labels[node],
                distance=distance,
                passages=None if node < graph.chunks else int(graph.df[node - graph.chunks]),
            )
            for node, distance in distances.items()
        ),
        edges=tuple(
            _make_edge(ids, labels, (first, second), weight, step, mention=first < graph.chunks)
            for (first, second, weight), (step,) in zip(edges, steps, strict=True)
        ),
        truncated=truncated,
    )


def _grow(graph: Adjacency, start: int, depth: int, limit: int) -> tuple[dict[int, int], bool]:
    """Returns nodes with their distances, in the order in which they were added, and whether others were left out."""
    heap: list[tuple[float, int, int]] = [(0.0, start, 0)]
    distances: dict[int, int] = {}
    truncated = False
    while heap:
        cost, node, distance = heapq.heappop(heap)
        if node in distances:
            continue
        if len(distances) == limit:
            return distances, True
        distances[node] = distance
        if distance == depth:
            continue
        others, weights = graph.neighbours(node)
        if len(others) > _MAX_FAN:
            strongest = np.argsort(-weights / graph.degree[others], kind="stable")[:_MAX_FAN]
            others, weights, truncated = others[strongest], weights[strongest], True
        totals = cost - np.log(weights / graph.degree[node])
        for other, total in zip(others.tolist(), totals.tolist(), strict=True):
            if other not in distances:
                heapq.heappush(heap, (total, other, distance + 1))
    return distances, truncated


def _edges_between(graph: Adjacency, nodes: dict[int, int]) -> list[tuple[int, int, float]]:
    """Returns (smaller node, greater node, weight): passages have the smaller numbers."""
    kept = np.array(sorted(nodes), np.int64)
    edges: list[tuple[int, int, float]] = []
    for node in kept.tolist():
        others, weights = graph.neighbours(node)
        chosen = np.isin(others, kept) & (others > node)
        edges += [
            (node, other, weight)
            for other, weight in zip(others[chosen].tolist(), weights[chosen].tolist(), strict=True)
        ]
    return edges


def _make_edge(
    ids: Mapping[int, str],
    labels: Mapping[int, str],
    ends: tuple[int, int],
    weight: float,
    step: PathStep,
    *,
    mention: bool,
) -> SubgraphEdge:
    """Returns the edge between two nodes; the edge of a fact leads from its subject to its object."""
    kind = EdgeKind.MENTION if mention else EdgeKind.FACT if step.chunk_id else EdgeKind.SYNONYM
    first, second = ends
    if kind is EdgeKind.FACT and step.source != labels[first]:
        first, second = second, first
    return SubgraphEdge(
        source=ids[first],
        target=ids[second],
        kind=kind,
        label=step.relation if kind is EdgeKind.FACT else "",
        chunk_id=step.chunk_id,
        weight=weight,
    )


def _id_of(scope: Scope, node: int) -> str:
    chunks = scope.graph.chunks
    (id,) = scope.snapshot.chunk_ids([node]) if node < chunks else scope.snapshot.entity_ids([node - chunks])
    return id


async def _label(scope: Scope, nodes: Sequence[int]) -> dict[int, str]:
    chunks = scope.graph.chunks
    entities = await scope.refs_of(node - chunks for node in nodes if node >= chunks)
    passages = [node for node in nodes if node < chunks]
    titles = await label_passages(passages, scope.snapshot, scope.corpus.id, scope.backends)
    return dict.fromkeys(passages, "") | titles | {number + chunks: ref.name for number, ref in entities.items()}
