"""Forward push against the exact vector of igraph: the compiled kernel, and numpy in its place."""

import asyncio
import threading

import numpy as np
import pytest

from core.execution.jit import JitFunction
from retrieval.graph.adjacency import Adjacency, build_adjacency
from retrieval.graph.joined import EdgeChanges
from retrieval.interruption import Interrupted, run_interruptibly
from retrieval.pagerank import forward_push as module
from retrieval.pagerank.forward_push import NodeMass, forward_push, warm


@pytest.fixture(params=["compiled", "numpy"], autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "compiled":
        warm()
    else:
        monkeypatch.setattr(module, "_KERNEL", JitFunction(module._forward_push, module._signature))


def random_graph(nodes: int, edges: int, seed: int) -> Adjacency:
    rng = np.random.default_rng(seed)
    popular = np.minimum(rng.zipf(1.3, edges), nodes) - 1
    other = rng.integers(0, nodes, edges)
    weights = rng.choice([0.8, 1.0, 2.0], edges).astype(np.float32)
    return build_adjacency(nodes, popular.astype(np.int64), other, weights)


def exact(graph: Adjacency, seeds: list[int], weights: list[float], damping: float) -> np.ndarray:
    import igraph

    rows = np.repeat(np.arange(graph.size), np.diff(graph.indptr))
    upper = rows < graph.indices
    edges = np.column_stack([rows[upper], graph.indices[upper]])
    reset = np.bincount(seeds, weights=weights, minlength=graph.size)
    return np.array(
        igraph.Graph(n=graph.size, edges=edges).personalized_pagerank(
            damping=damping, reset=reset.tolist(), weights=graph.weights[upper].tolist(), implementation="prpack"
        )
    )


def approximate(graph: Adjacency, seeds: list[int], weights: list[float], damping: float, epsilon: float) -> NodeMass:
    return forward_push(graph, np.array(seeds, np.int64), np.array(weights), damping=damping, epsilon=epsilon)


def dense(found: NodeMass, size: int) -> np.ndarray:
    out = np.zeros(size)
    out[found.nodes] = found.mass
    return out


@pytest.mark.parametrize("damping", [0.5, 0.85])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_exact_vector_up_to_epsilon(seed: int, damping: float) -> None:
    graph = random_graph(2000, 6000, seed)
    seeds, weights = [5, 17, 900], [1.0, 0.5, 0.1]
    reference = exact(graph, seeds, weights, damping)
    errors = []
    for epsilon in (1e-4, 1e-5, 1e-6, 1e-8):
        found = dense(approximate(graph, seeds, weights, damping, epsilon), graph.size)
        errors.append(np.abs(found - reference).sum())
        assert errors[-1] <= 2 * epsilon * graph.degree.sum()
    assert errors == sorted(errors, reverse=True)
    best, wanted = np.argsort(-found)[:20], np.argsort(-reference)[:20]
    assert len(np.intersect1d(best, wanted)) >= 19


def test_no_seed_gives_no_mass() -> None:
    graph = random_graph(10, 20, 0)
    assert len(approximate(graph, [], [], 0.85, 1e-6).nodes) == 0
    assert len(approximate(graph, [3], [0.0], 0.85, 1e-6).nodes) == 0


def test_a_seed_given_twice_counts_twice() -> None:
    graph = random_graph(100, 300, 0)
    twice = approximate(graph, [3, 3, 8], [1, 1, 1], 0.85, 1e-6)
    once = approximate(graph, [3, 8], [2, 1], 0.85, 1e-6)
    np.testing.assert_allclose(dense(twice, 100), dense(once, 100), atol=1e-12)


def test_an_isolated_seed_keeps_its_mass_as_in_igraph() -> None:
    graph = build_adjacency(4, np.array([0, 1]), np.array([1, 2]), np.ones(2, np.float32))
    found = approximate(graph, [3, 0], [1.0, 1.0], 0.85, 1e-9)
    np.testing.assert_allclose(dense(found, 4), exact(graph, [3, 0], [1.0, 1.0], 0.85), atol=1e-6)
    alone = approximate(graph, [3], [1.0], 0.85, 1e-6)
    assert (alone.nodes.tolist(), alone.mass.tolist()) == ([3], [1.0])


def test_a_hub_of_many_neighbours_is_walked_like_any_node() -> None:
    size = 20_001
    hub = build_adjacency(size, np.zeros(size - 1, np.int64), np.arange(1, size), np.ones(size - 1, np.float32))
    found = dense(approximate(hub, [1], [1.0], 0.5, 1e-9), size)
    np.testing.assert_allclose(found, exact(hub, [1], [1.0], 0.5), atol=1e-9 * size)


def test_repeated_and_concurrent_pushes_give_the_same_bytes() -> None:
    graphs = [random_graph(3000, 9000, 1), random_graph(500, 2000, 2)]
    wanted = [approximate(graph, [5, 17], [1.0, 0.5], 0.85, 1e-6) for graph in graphs]
    wrong: list[int] = []

    def work() -> None:
        for turn in range(40):
            found = approximate(graphs[turn % 2], [5, 17], [1.0, 0.5], 0.85, 1e-6)
            if not np.array_equal(found.mass, wanted[turn % 2].mass):
                wrong.append(turn)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_push_ends_at_its_limit_of_steps_and_says_so() -> None:
    graph = random_graph(2000, 6000, 3)
    seeds, weights = np.array([5, 17]), np.array([1.0, 0.5])
    cut = forward_push(graph, seeds, weights, damping=0.99, epsilon=1e-12, max_steps=50_000)
    assert not cut.complete
    assert cut.mass.sum() == pytest.approx(1.0)
    assert np.all(cut.mass >= 0)
    whole = forward_push(graph, seeds, weights, damping=0.5, epsilon=1e-8)  # in the workspace of the one that was cut
    assert whole.complete
    assert np.array_equal(whole.mass, forward_push(graph, seeds, weights, damping=0.5, epsilon=1e-8).mass)
    np.testing.assert_allclose(dense(whole, graph.size), exact(graph, [5, 17], [1.0, 0.5], 0.5), atol=1e-4)


async def test_a_push_whose_search_is_cancelled_ends() -> None:
    graph = random_graph(2000, 6000, 3)
    seeds, weights = np.array([5]), np.array([1.0])
    warm()
    begun, ended = threading.Event(), threading.Event()

    def push() -> None:
        begun.set()
        try:  # without end, but for the flag: the mass never falls below epsilon
            forward_push(graph, seeds, weights, damping=1 - 2**-50, epsilon=1e-12, max_steps=2**62)
        except Interrupted:
            ended.set()

    search = asyncio.create_task(run_interruptibly(push))
    assert await asyncio.to_thread(begun.wait, 60)
    await asyncio.sleep(0.05)
    assert not ended.is_set()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert await asyncio.to_thread(ended.wait, 60)
    assert forward_push(graph, seeds, weights, damping=0.5, epsilon=1e-6).complete


@pytest.mark.parametrize("compiled", [True, False])
def test_a_hub_keeps_what_reaches_it(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Node 0 has four edges, the others lead to it and to node 5."""
    first, second = np.array([0, 0, 0, 0, 1]), np.array([1, 2, 3, 4, 5])
    graph = build_adjacency(6, first, second, np.ones(5, np.float32))
    if compiled:
        warm()
    else:
        monkeypatch.setattr("retrieval.pagerank.forward_push._KERNEL", JitFunction(lambda: None, lambda _: None))
    found = forward_push(graph, np.array([5]), np.ones(1), damping=0.5, epsilon=1e-9, hubs=3)
    assert found.nodes.tolist() == [0, 1, 5]
    open_ = forward_push(graph, np.array([5]), np.ones(1), damping=0.5, epsilon=1e-9, hubs=4)
    assert open_.nodes.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.mass[0] > open_.mass[0]


@pytest.mark.parametrize(("changed", "added"), [(0, 0), (0, 1), (1, 0), (1, 64), (40, 1), (40, 64)])
def test_edges_laid_over_a_graph_give_the_mass_of_one_built_anew(changed: int, added: int) -> None:
    """Few changed nodes make large buckets, and added ones lie side by side in the last."""
    rng, old = np.random.default_rng(changed + added), random_graph(2_000, 9_000, seed=1)
    rows = np.repeat(np.arange(old.size), np.diff(old.indptr))
    upper = np.flatnonzero(rows < old.indices)
    edges, weights = np.column_stack([rows, old.indices])[upper].astype(np.int64), old.weights[upper]
    lost = rng.choice(len(edges), changed, replace=False)
    gained = np.column_stack([rng.integers(0, old.size, added), np.arange(old.size, old.size + added)])
    changes = EdgeChanges(lost=edges[lost], gained=gained, weights=np.ones(added, np.float32))
    size = old.size + added
    found = changes.lay_over(old, size)
    edges = np.concatenate([np.delete(edges, lost, axis=0), gained])
    built = build_adjacency(size, edges[:, 0], edges[:, 1], np.concatenate([np.delete(weights, lost), changes.weights]))
    every = np.arange(size)
    assert found.degree[every].tolist() == pytest.approx(built.degree.tolist(), abs=1e-9)
    assert found.count_edges(every).tolist() == built.count_edges(every).tolist()
    for seed in (0, size - 1):
        expected = dense(approximate(built, [seed], [1.0], 0.85, 1e-9), size)
        assert dense(approximate(found, [seed], [1.0], 0.85, 1e-9), size) == pytest.approx(expected, abs=1e-6)
