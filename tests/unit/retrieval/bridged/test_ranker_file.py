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


BAD = {"stage1_rank": float("nan"), "words": 1.0}


@pytest.mark.parametrize(
    ("file", "said"),
    [
        *((text()[:kept], "not a ranker file; train it again") for kept in (0, 1, 40, -3)),
        *((other, "not a ranker file") for other in ("[]", "null", "3", "{}", '{"sha256": "x"}')),
        (text().replace("1.5", "1.6"), "was edited; train it again"),
        (text().replace('"format": 1', '"format": 2'), r"format 2, and this release reads 1"),
        (text(weights={"stage1_rank": 1.0, "moon": 2.0}), "'moon', which this release does not have"),
        (text(weights=BAD), "stage1_rank"),
        (text(trees=[TREE, {**TREE, "left": [2, -1]}]), "tree 1 of the ranker is damaged: .*node 0 leads nowhere"),
    ],
)
def test_a_file_that_is_damaged_or_of_another_kind_is_refused(file: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_ranker(file)


def test_a_path_without_a_ranker_says_what_would_be_one() -> None:
    with pytest.raises(InvalidStrategy, match=r"no ranker 'nowhere\.json'.*train-ranker"):
        load_ranker("nowhere.json")


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
