"""Evaluation of gradient-boosted regression trees without the library that trained them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput
from core.execution.jit import JitFunction

__all__ = ["Trees", "read_trees", "warm"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Trees:
    """The nodes of all trees in one array each.

    A candidate starts at each of `roots`. At a node it goes to `left` if its `feature` is at most `threshold`, else to
    `right`. A negative child is a leaf with the value `leaves[-1 - child]`.
    """

    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    leaves: Floats

    def score(self, features: Floats) -> Floats:
        """Returns the probability that each row of `features` (n, f) supports its question: the sigmoid of the leaves'
        sum.
        """
        sums = _compute_sums(self, features) if _KERNEL.is_compiled else _compute_sums_uncompiled(self, features)
        out: Floats = 1.0 / (1.0 + np.exp(-sums))
        return out


def warm() -> None:
    """Compiles the kernel now, or loads it from numba's cache: for processes that answer more than a few questions."""
    _KERNEL()


def read_trees(rows: Sequence[Mapping[str, Any]], features: int) -> Trees:
    """Returns the trees of a file, each with the lists `feature`, `threshold`, `left`, `right` and `leaf`.

    Children are numbered within their tree. Raises `InvalidInput` for a tree with a cycle, or one that refers to a node
    or feature that does not exist.
    """
    roots, nodes, leaves = [], 0, 0
    columns: dict[str, list[Any]] = {"feature": [], "threshold": [], "left": [], "right": [], "leaf": []}
    for number, row in enumerate(rows):
        _check(row, number, features)
        splits = len(row["feature"])
        roots.append(nodes if splits else -1 - leaves)
        for side in ("left", "right"):
            columns[side] += [child + nodes if child >= 0 else child - leaves for child in row[side]]
        for name in ("feature", "threshold", "leaf"):
            columns[name] += row[name]
        nodes, leaves = nodes + splits, leaves + len(row["leaf"])
    return Trees(
        roots=np.array(roots, np.int32),
        feature=np.array(columns["feature"], np.int32),
        threshold=np.array(columns["threshold"], np.float64),
        left=np.array(columns["left"], np.int32),
        right=np.array(columns["right"], np.int32),
        leaves=np.array(columns["leaf"], np.float64),
    )


def _check(row: Mapping[str, Any], number: int, features: int) -> None:
    splits = len(row["feature"])
    if {len(row[name]) for name in ("threshold", "left", "right")} - {splits} or len(row["leaf"]) != splits + 1:
        raise InvalidInput(f"tree {number} of the ranker is damaged: its lists differ in length")
    if any(not 0 <= feature < features for feature in row["feature"]):
        raise InvalidInput(f"tree {number} of the ranker is damaged: it asks for a feature that is not there")
    for node, children in enumerate(zip(row["left"], row["right"], strict=True)):
        if any(not node < child < splits if child >= 0 else -child > splits + 1 for child in children):
            raise InvalidInput(f"tree {number} of the ranker is damaged: node {node} leads nowhere")


def _compute_sums(trees: Trees, features: Floats) -> Floats:
    sums = np.zeros(len(features))
    _KERNEL()(
        np.ascontiguousarray(features), trees.roots, trees.feature, trees.threshold,
        trees.left, trees.right, trees.leaves, sums,
    )  # fmt: skip
    return sums


def _compute_sums_uncompiled(trees: Trees, features: Floats) -> Floats:
    """Returns the same sums to the last bit, without numba; all candidates descend all trees together."""
    if not len(trees.roots):
        return np.zeros(len(features))
    row = np.arange(len(features))[:, None]
    node = np.repeat(trees.roots[None, :], len(features), axis=0)
    while (inner := node >= 0).any():
        at = np.maximum(node, 0)
        to_left = features[row, trees.feature[at]] <= trees.threshold[at]
        node = np.where(inner, np.where(to_left, trees.left[at], trees.right[at]), node)
    # A cumulative sum adds in the order of the trees, as the kernel does; `sum` would add in pairs.
    sums: Floats = np.cumsum(trees.leaves[-1 - node], axis=1)[:, -1]
    return sums


def _add_leaves(  # noqa: PLR0917 - compiled: plain arrays are what the compiler takes
    rows: Any, roots: Any, feature: Any, threshold: Any, left: Any, right: Any, leaves: Any, sums: Any
) -> None:
    for i in range(rows.shape[0]):
        total = 0.0
        for root in roots:
            node = root
            while node >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
            total += leaves[-1 - node]
        sums[i] = total


def _signature(types: Any) -> Any:
    floats, int32s = types.Array(types.float64, 1, "C"), types.Array(types.int32, 1, "C")
    rows = types.Array(types.float64, 2, "C")
    return types.void(rows, int32s, int32s, floats, int32s, int32s, floats, floats)


_KERNEL = JitFunction(_add_leaves, _signature)
