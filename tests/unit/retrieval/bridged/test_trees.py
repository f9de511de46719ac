"""Trees are walked as a plain loop walks them, and damaged ones are not read."""

import re
from collections.abc import Iterator
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.execution.jit import JitFunction
from retrieval.bridged import ranker as module
from retrieval.bridged.ranker import read_trees

Row = dict[str, Any]

# Is feature 1 at most .5? Then 1; else is feature 0 at most -2? Then 2, else 3.
TREE: Row = {"feature": [1, 0], "threshold": [0.5, -2.0], "left": [-1, -2], "right": [1, -3], "leaf": [1.0, 2.0, 3.0]}
LEAF: Row = {"feature": [], "threshold": [], "left": [], "right": [], "leaf": [0.25]}


@pytest.fixture(params=["compiled", "numpy"], autouse=True, scope="module")
def kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "compiled":
            module.warm()
        else:
            patch.setattr(module, "_KERNEL", JitFunction(module._add_leaves, module._signature))
        yield


def sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))


def pagerank(rows: list[Row], features: list[float]) -> float:
    total = 0.0
    for row in rows:
        node = 0 if row["feature"] else -1
        while node >= 0:
            side = "left" if features[row["feature"][node]] <= row["threshold"][node] else "right"
            node = row[side][node]
        total += row["leaf"][-1 - node]
    return total


def test_a_tree_by_hand() -> None:
    features = np.array([[0.0, 0.5], [-2.0, 0.6], [-1.9, 0.6]])  # what is equal goes left
    scores = read_trees([TREE], 2).score(features)
    assert scores.tolist() == pytest.approx([sigmoid(1), sigmoid(2), sigmoid(3)])


def test_a_tree_may_be_a_single_leaf() -> None:
    features = np.array([[0.0, 0.0], [5.0, 5.0]])
    assert read_trees([LEAF], 2).score(features).tolist() == pytest.approx([sigmoid(0.25)] * 2)
    for rows in ([LEAF, TREE, LEAF], [TREE, LEAF, TREE]):
        expected = [sigmoid(pagerank(rows, row)) for row in features.tolist()]
        assert read_trees(rows, 2).score(features).tolist() == pytest.approx(expected)


def test_no_tree_and_no_candidate_and_features_that_are_a_view_into_more() -> None:
    assert read_trees([], 2).score(np.zeros((3, 2))).tolist() == [0.5] * 3
    assert read_trees([TREE], 2).score(np.zeros((0, 2))).tolist() == []
    wide = np.array([[0.0, 9.0, 0.5, 9.0], [-2.0, 9.0, 0.6, 9.0]])
    assert read_trees([TREE], 2).score(wide[:, ::2]).tolist() == pytest.approx([sigmoid(1), sigmoid(2)])


@st.composite
def trees(draw: st.DrawFn) -> Row:
    """A tree grown leaf by leaf: node numbers ascend from parent to child."""
    row: Row = {"feature": [], "threshold": [], "left": [], "right": [], "leaf": []}
    open_sides: list[tuple[int, str]] = []
    for node in range(draw(st.integers(0, 6))):
        if node:
            parent, side = open_sides.pop(draw(st.integers(0, len(open_sides) - 1)))
            row[side][parent] = node
        row["feature"].append(draw(st.integers(0, 2)))
        row["threshold"].append(draw(st.sampled_from([-1.0, 0.0, 1.0])))
        row["left"].append(0)
        row["right"].append(0)
        open_sides += [(node, "left"), (node, "right")]
    for leaf, (parent, side) in enumerate(open_sides):
        row[side][parent] = -1 - leaf
    row["leaf"] = draw(st.lists(st.floats(-2, 2), min_size=max(len(open_sides), 1), max_size=max(len(open_sides), 1)))
    return row


@given(
    rows=st.lists(trees(), max_size=4),
    features=st.lists(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0]), min_size=3, max_size=3), max_size=4),
)
def test_many_trees_equal_a_plain_walk(rows: list[Row], features: list[list[float]]) -> None:
    scores = read_trees(rows, 3).score(np.array(features, np.float64).reshape(-1, 3))
    assert scores.tolist() == pytest.approx([sigmoid(pagerank(rows, row)) for row in features])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"threshold": [0.5]}, "lists differ in length"),
        ({"left": [-1]}, "lists differ in length"),
        ({"right": [1, -3, -3]}, "lists differ in length"),
        ({"leaf": [1.0, 2.0]}, "lists differ in length"),
        ({"leaf": [1.0, 2.0, 3.0, 4.0]}, "lists differ in length"),
        ({"feature": [2, 0]}, "a feature that is not there"),
        ({"feature": [-1, 0]}, "a feature that is not there"),
        ({"right": [2, -3]}, "node 0 leads nowhere"),
        ({"right": [-4, -3]}, "node 0 leads nowhere"),
        ({"right": [0, -3]}, "node 0 leads nowhere"),  # a circle
        ({"left": [-1, 0]}, "node 1 leads nowhere"),  # back to the root
    ],
)
def test_a_damaged_tree_is_not_read(change: Row, told: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^tree 1 of the ranker is damaged: .*{re.escape(told)}$"):
        read_trees([TREE, {**TREE, **change}], 2)
