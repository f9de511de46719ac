"""Groups of a tree of summaries, by UMAP and Gaussian mixtures as they are."""

import sys

import numpy as np
import pytest

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from indexer.summary_tree.clustering import Clustering, check_tree_libraries


def make_groups(*sizes: int, spread: float = 0.3) -> Vectors:
    """Returns unit vectors around a random direction for each group."""
    random = np.random.default_rng(0)
    parts = [random.normal(size=64) + spread * random.normal(size=(size, 64)) for size in sizes]
    vectors = np.concatenate(parts).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.slow  # umap-learn compiles what it runs
def test_groups_are_of_one_kind_the_same_each_time_and_short_enough() -> None:
    clustering = Clustering(vectors=make_groups(20, 20, 20), tokens=[50] * 60)
    groups = clustering.find_groups()
    assert all(len({node // 20 for node in group}) == 1 for group in groups)
    assert {node for group in groups for node in group} == set(range(60))
    assert clustering.find_groups() == groups
    short = Clustering(vectors=clustering.vectors, tokens=[50] * 60, most_tokens=150).find_groups()
    assert max(map(len, short)) == 3
    assert {node for group in short for node in group} == set(range(60))
    assert len(short) > len(groups)


def test_few_nodes_are_cut_in_their_order_and_a_long_text_stands_alone() -> None:
    tokens = [40, 40, 40, 500, 60, 40]
    groups = Clustering(vectors=make_groups(6), tokens=tokens, most_tokens=100).find_groups()
    assert groups == [(0, 1), (2,), (3,), (4, 5)]


def test_what_is_between_two_components_belongs_to_both() -> None:
    from indexer.summary_tree.clustering import _mix, _one_thread

    random = np.random.default_rng(1)
    left, right = random.normal(size=(60, 2)), random.normal(loc=(4.0, 0.0), size=(60, 2))
    points = np.concatenate([left, right])
    with _one_thread():
        first, second = map(set, _mix(points))
    both = sorted(first & second)
    assert 0 < len(both) < 20
    assert all(0.5 < points[place, 0] < 3.5 for place in both)
    assert first | second == set(range(120))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InvalidSettings, match=r'pip install "hopweave\[tree\]"'):
        check_tree_libraries()
