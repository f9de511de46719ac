"""Fitting of weights (listwise softmax) and trees (LightGBM). It needs the extra `train`.

The result is evaluated without LightGBM and SciPy (`retrieval.bridged.ranker`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput
from retrieval.bridged.training.recipes import Recipe, TrainingQuestion

__all__ = ["fit"]

Floats = NDArray[np.float64]

_CANDIDATES = 70
"""Candidates of each question, by stage 1, that weights are fitted to, besides those that support it."""


def fit(questions: Sequence[TrainingQuestion], recipe: Recipe) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Returns weights by feature, and trees as `retrieval.bridged.trees.read_trees` reads them; deterministic.

    Raises `InvalidInput` if no question has a supporting passage among its candidates.
    """
    usable = [question for question in questions if question.supporting.any()]
    if not usable:
        raise InvalidInput("no question has a supporting passage among its candidates; are the passages indexed?")
    weights = _fit_weights(usable, recipe.l2)
    rows = [row for forest in range(recipe.forests) for row in _fit_trees(questions, recipe, recipe.seed + forest)]
    return dict(zip(recipe.features, weights.tolist(), strict=True)), rows


def _fit_weights(questions: Sequence[TrainingQuestion], l2: float) -> Floats:
    """Returns the weights of the listwise softmax whose target is equal probability on a question's supports."""
    from scipy.optimize import minimize  # slow to import, and of the extra `train`

    deviation = np.concatenate([question.features for question in questions]).std(axis=0)
    deviation[deviation == 0] = 1.0
    lists = []
    for question in questions:
        kept = (question.place < _CANDIDATES) | question.supporting
        wanted = question.supporting[kept].astype(np.float64)
        lists.append((question.features[kept] / deviation, wanted / wanted.sum()))

    def loss(weights: Floats) -> tuple[float, Floats]:
        value, gradient = l2 / 2 * float(weights @ weights), l2 * weights
        for features, wanted in lists:
            scores = features @ weights
            scores = scores - scores.max()
            logarithm = np.log(np.exp(scores).sum())
            value += float(wanted @ (logarithm - scores))
            gradient = gradient + features.T @ (np.exp(scores - logarithm) - wanted)
        return value, gradient

    found = minimize(loss, np.zeros(len(deviation)), jac=True, method="L-BFGS-B")
    weights: Floats = found.x / deviation
    return weights


def _fit_trees(questions: Sequence[TrainingQuestion], recipe: Recipe, seed: int) -> list[dict[str, Any]]:
    """Returns one forest, with leaves divided by the number of forests."""
    import lightgbm  # slow to import, and of the extra `train`

    features = np.concatenate([question.features for question in questions])
    labels = np.concatenate([question.supporting for question in questions]).astype(np.float64)
    settings = {
        "objective": "binary", "num_leaves": recipe.leaves, "learning_rate": recipe.rate,
        "min_data_in_leaf": recipe.smallest_leaf, "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1,
        "lambda_l2": 5.0, "seed": seed, "deterministic": True, "force_row_wise": True, "num_threads": 1,
        "verbose": -1,
    }  # fmt: skip
    booster = lightgbm.train(settings, lightgbm.Dataset(features, labels), recipe.trees)
    rows = [_flatten_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    return [{**row, "leaf": [leaf / recipe.forests for leaf in row["leaf"]]} for row in rows]


def _flatten_tree(root: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a tree as lists: splits in preorder, negative children are leaves."""
    out: dict[str, Any] = {"feature": [], "threshold": [], "left": [], "right": [], "leaf": []}

    def place(node: Mapping[str, Any]) -> int:
        if "leaf_value" in node:
            out["leaf"].append(node["leaf_value"])
            return -len(out["leaf"])
        at = len(out["feature"])
        out["feature"].append(node["split_feature"])
        out["threshold"].append(node["threshold"])
        for side in ("left", "right"):
            out[side].append(0)
        for side in ("left", "right"):
            out[side][at] = place(node[f"{side}_child"])
        return at

    place(root)
    return out
