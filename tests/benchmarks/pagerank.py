"""Forward push against igraph's exact PageRank, on graphs shaped like a corpus of passages and the names in them.

`python tests/benchmarks/pagerank.py [small|large …]` prints JSON. Times are the medians over the same questions.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import igraph
import numpy as np
from numpy.typing import NDArray

from retrieval.graph.adjacency import Adjacency, build_adjacency
from retrieval.pagerank.forward_push import NodeMass, forward_push, warm
from retrieval.pagerank.personalized import PageRankConfig

__all__ = ["SIZES", "corpus_graph", "measure"]

SIZES = {"small": (10_000, 81_000, 216_000), "large": (100_000, 861_000, 2_300_000)}
"""Passages, entities, edges; four of five edges are mentions, one is a fact."""

T = TypeVar("T")

_QUESTIONS = {"small": 30, "large": 10}
_REPEATS = 5
_SEED = 7


def measure(size: str) -> dict[str, Any]:
    """Medians in milliseconds, their ratio, and how much of the exact top 20 passages is found."""
    passages, entities, edges = SIZES[size]
    graph = corpus_graph(passages, entities, edges)
    exact_graph, weights = _igraph(graph)
    questions = _questions(passages, entities, _QUESTIONS[size])
    degree = graph.degree
    warm()
    report: dict[str, Any] = {"size": size, "nodes": graph.size, "edges": len(graph.indices) // 2}
    shipped = PageRankConfig()
    for name, damping, epsilon in (("reference", 0.5, 1e-6), ("shipped", shipped.damping, shipped.epsilon)):
        exact, pushed, overlaps = [], [], []
        for seeds in questions:
            reset = np.zeros(graph.size)
            reset[seeds] = 1 / degree[seeds]

            def walk_exactly(reset: NDArray[np.float64] = reset, damping: float = damping) -> list[float]:
                vector: list[float] = exact_graph.personalized_pagerank(
                    damping=damping, reset=reset, weights=weights, implementation="prpack"
                )
                return vector

            def walk(seeds: NDArray[np.int64] = seeds, d: float = damping, e: float = epsilon) -> NodeMass:
                return forward_push(graph, seeds, 1 / degree[seeds], damping=d, epsilon=e)

            seconds, vector = _timed(walk_exactly, 1)
            exact.append(seconds)
            seconds, mass = _timed(walk, _REPEATS)
            pushed.append(seconds)
            overlaps.append(_overlap(np.array(vector)[:passages], mass, passages))
        report[name] = {
            "damping": damping,
            "epsilon": epsilon,
            "exact_ms": round(statistics.median(exact) * 1e3, 3),
            "push_ms": round(statistics.median(pushed) * 1e3, 3),
            "ratio": round(statistics.median(exact) / statistics.median(pushed), 1),
            "top20_overlap": round(statistics.mean(overlaps), 4),
        }
    return report


def corpus_graph(passages: int, entities: int, edges: int) -> Adjacency:
    """Every entity is mentioned at least once; further mentions go to entities by Zipf's law, facts join neighbours."""
    rng = np.random.default_rng(_SEED)
    mentions = edges * 4 // 5
    popular = _zipf(rng, entities, mentions - entities)
    mentioned = np.concatenate([rng.permutation(entities), popular])
    in_passage = rng.integers(0, passages, mentions)
    subjects, objects = _zipf(rng, entities, edges - mentions), rng.integers(0, entities, edges - mentions)
    return build_adjacency(
        passages + entities,
        np.concatenate([in_passage, subjects + passages]),
        np.concatenate([mentioned, objects]) + passages,
        np.ones(edges, np.float32),
    )


def _zipf(rng: np.random.Generator, count: int, draws: int) -> NDArray[np.int64]:
    """Ranks 0 … count-1 with probability proportional to 1 / (rank + 1)."""
    cumulative = np.cumsum(1 / np.arange(1, count + 1))
    ranks: NDArray[np.int64] = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1]).astype(np.int64)
    return ranks


def _questions(passages: int, entities: int, count: int) -> list[NDArray[np.int64]]:
    """Three names a question: one that is known everywhere, two that are not."""
    rng = np.random.default_rng(_SEED + 1)
    rare = rng.integers(0, entities, (count, 2))
    known = _zipf(rng, entities, count)
    return [np.unique(np.concatenate([[k], r])) + passages for k, r in zip(known, rare, strict=True)]


def _igraph(graph: Adjacency) -> tuple[igraph.Graph, list[float]]:
    rows = np.repeat(np.arange(graph.size), np.diff(graph.indptr))
    upper = rows < graph.indices
    edges = np.column_stack([rows[upper], graph.indices[upper]])
    return igraph.Graph(n=graph.size, edges=edges), graph.weights[upper].tolist()


def _timed(work: Callable[[], T], repeats: int) -> tuple[float, T]:
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), result


def _overlap(exact: NDArray[np.float64], found: NodeMass, passages: int) -> float:
    mass = np.zeros(passages)
    here = found.nodes < passages
    mass[found.nodes[here]] = found.mass[here]
    best = np.argsort(-exact, kind="stable")[:20]
    best = best[exact[best] > 0]
    # A passage that is as good as the twentieth to nine digits is no miss.
    least = exact[best[-1]] * (1 - 1e-9)
    return float(np.mean(exact[np.argsort(-mass, kind="stable")[: len(best)]] >= least))


if __name__ == "__main__":
    print(json.dumps([measure(size) for size in sys.argv[1:] or SIZES], indent=2))
