"""A ranker's file: what is written is read back, and what was damaged is refused."""

import json
from typing import Any

import numpy as np
import pytest

from core.errors import InvalidInput, InvalidStrategy
from retrieval.bridged.ranker import _digest, format_ranker, load_ranker, read_ranker

TREE = {"feature": [0, 1], "threshold": [0.5, 0.25], "left": [1, -1], "right": [-3, -2], "leaf": [-1.0, 0.5, 2.0]}
WEIGHTS = {"stage1_rank": 1.5, "words": 0.5}


def text(*, trees: list[dict[str, Any]] | None = None, weights: dict[str, float] | None = None) -> str:
    return format_ranker(weights or WEIGHTS, [TREE] if trees is None else trees, {"made_by": "a test"})


def test_what_is_written_is_read_back() -> None:
    ranker = read_ranker(text())
    assert dict(zip(ranker.features, ranker.weights.tolist(), strict=True)) == WEIGHTS
    assert ranker.provenance == {"made_by": "a test"}
    assert ranker.trees is not None
    scores = ranker.trees.score(np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]))
    assert scores == pytest.approx(1 / (1 + np.exp([1.0, -0.5, -2.0])))
    assert read_ranker(text(trees=[])).trees is None


@pytest.mark.parametrize("kept", [0, 1, 40, -3])
def test_a_file_that_was_cut_off_is_none(kept: int) -> None:
    with pytest.raises(InvalidInput, match="not a ranker file; train it again"):
        read_ranker(text()[:kept])


@pytest.mark.parametrize("other", ["[]", "null", "3", "{}", '{"sha256": "x"}'])
def test_other_json_is_no_ranker(other: str) -> None:
    with pytest.raises(InvalidInput, match="not a ranker file"):
        read_ranker(other)


def test_a_weight_that_was_changed_is_found() -> None:
    changed = text().replace("1.5", "1.6")
    assert changed != text()
    with pytest.raises(InvalidInput, match="was edited; train it again"):
        read_ranker(changed)


def test_a_newer_format_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"format 2, and this release reads 1"):
        read_ranker(text().replace('"format": 1', '"format": 2'))


def test_a_feature_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidInput, match="'moon_phase', which this release does not have"):
        read_ranker(text(weights={"stage1_rank": 1.0, "moon_phase": 2.0}))


def test_a_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="stage1_rank"):
        read_ranker(text(weights={"stage1_rank": float("nan"), "words": 1.0}))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"left": [2, -1]}, "node 0 leads nowhere"),
        ({"right": [-3, -4]}, "node 1 leads nowhere"),
        ({"left": [0, -1]}, "node 0 leads nowhere"),
        ({"left": [1, 0]}, "node 1 leads nowhere"),
        ({"feature": [0, 2]}, "a feature that is not there"),
        ({"feature": [0, -1]}, "a feature that is not there"),
        ({"leaf": [1.0]}, "differ in length"),
        ({"threshold": [0.5]}, "differ in length"),
    ],
)
def test_a_tree_that_would_read_elsewhere_is_refused(damage: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=f"tree 1 of the ranker is damaged: .*{said}"):
        read_ranker(text(trees=[TREE, {**TREE, **damage}]))


def test_a_path_without_a_ranker_says_what_would_be_one() -> None:
    with pytest.raises(InvalidStrategy, match=r"no ranker 'nowhere\.json'.*train-ranker"):
        load_ranker("nowhere.json")


@pytest.mark.parametrize("name", ["full", "six"])
def test_shipped_rankers_are_read(name: str) -> None:
    ranker = load_ranker(name)
    assert (ranker.trees is not None) == (name == "full")


@pytest.mark.parametrize(
    "change",
    [
        {"weights": {}},
        {"weights": {"words": "much"}},
        {"weights": {"words": float("nan")}},
        {"trees": [{"feature": [0], "left": [-1], "right": [-2], "leaf": [0.0, 1.0]}]},
        {"trees": [{**TREE, "left": [1, 1.5]}]},
        {"provenance": None},
    ],
)
def test_a_file_that_was_made_by_hand_is_looked_at(change: dict[str, Any]) -> None:
    """The hash is no secret; what it covers is checked all the same."""
    content = {"format": 1, "weights": WEIGHTS, "trees": [TREE], "provenance": {}, **change}
    with pytest.raises(InvalidInput, match="not a ranker file"):
        read_ranker(json.dumps({"sha256": _digest(content), **content}))
