"""Fitting of rankers for `bridged`, and cross-validation; nothing that serves queries imports this module.

- The recipes of the shipped rankers, and the training data: a question with its candidates.
- Fitting of weights (listwise softmax) and trees (LightGBM), which needs the extra `train`.
- Judging a recipe by questions that its rankers have not seen: cross-validation, and transfer between sets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput
from retrieval.bridged.features import FEATURES
from retrieval.bridged.ranker import Ranker, read_trees
from retrieval.candidates.fusion import order_by_score

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TrainingQuestion:
    """The candidates of one question: `features` (n, f), and `place` by stage 1.

    `supports` has for each support the candidates that show it; empty for a support that stage 1 missed.
    """

    chunks: NDArray[np.int64]
    features: Floats
    place: NDArray[np.int64]
    supports: tuple[NDArray[np.int64], ...]

    @property
    def supporting(self) -> NDArray[np.bool_]:
        """Whether each candidate shows a support, (n,)."""
        out = np.zeros(len(self.chunks), np.bool_)
        for places in self.supports:
            out[places] = True
        return out


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The model to fit: the features, the strength of L2 regularisation, and the number of forests (0: no trees).

    Forests differ in their seeds alone and are averaged: with a few hundred questions, a single forest varies much.
    """

    features: tuple[str, ...]
    l2: float
    forests: int
    trees: int = 120
    leaves: int = 6
    rate: float = 0.06
    smallest_leaf: int = 40
    seed: int = 0


RECIPES: Mapping[str, Recipe] = {
    "full": Recipe(features=tuple(FEATURES), l2=30.0, forests=3),
    "six": Recipe(
        features=("stage1_rank", "bridge_title", "title_overlap", "bridge_name_adds", "words", "mass_log"),
        l2=3.0,
        forests=0,
    ),
}
"""The recipes of the shipped rankers, chosen by cross-validation on two question sets (docs/decisions)."""

_CANDIDATES = 70
"""Candidates of each question, by stage 1, that weights are fitted to, besides candidates that support it."""


def fit(questions: Sequence[TrainingQuestion], recipe: Recipe) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Returns weights by feature, and trees as `retrieval.bridged.ranker.read_trees` reads them; deterministic.

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


def cross_validate(
    sets: Mapping[str, Sequence[TrainingQuestion]],
    recipe: Recipe,
    *,
    folds: int = 5,
    rounds: int = 3,
    k: int = 5,
    asked: Mapping[str, Sequence[TrainingQuestion]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Floats]:
    """Returns R@k of each question by rankers fitted to the other folds of all sets, the mean over `rounds` partitions.

    `asked` are the same questions in another form; if given, the rankers are judged by them instead. `progress` is
    called with the number of finished fits and the number of all fits.
    """
    asked = asked or sets
    out = {name: np.zeros(len(questions)) for name, questions in sets.items()}
    for round_ in range(rounds):
        parts = {name: _partition(len(questions), folds, recipe.seed + round_) for name, questions in sets.items()}
        for fold in range(folds):
            seen = [q for name, questions in sets.items() for q in _select(questions, parts[name] != fold)]
            ranker = _make_ranker(*fit(seen, recipe))
            for name, questions in asked.items():
                for at in np.flatnonzero(parts[name] == fold).tolist():
                    out[name][at] += recall(questions[at], ranker.score(questions[at].features), k) / rounds
            if progress is not None:
                progress(round_ * folds + fold + 1, rounds * folds)
    return out


def evaluate_transfer(
    sets: Mapping[str, Sequence[TrainingQuestion]],
    recipe: Recipe,
    *,
    k: int = 5,
    asked: Mapping[str, Sequence[TrainingQuestion]] | None = None,
) -> dict[str, Floats]:
    """Returns R@k of each question by the ranker that was fitted to the other sets, at least one. `asked` are
    questions of the same sets in another form; if given, the rankers are judged by them instead.
    """
    out = {}
    for name, questions in (asked or sets).items():
        seen = [question for other, others in sets.items() if other != name for question in others]
        ranker = _make_ranker(*fit(seen, recipe))
        out[name] = np.array([recall(question, ranker.score(question.features), k) for question in questions])
    return out


def recall(question: TrainingQuestion, scores: Floats, k: int = 5) -> float:
    """Returns the share of the supports that the first k candidates show."""
    top = order_by_score(question.chunks, scores)[:k]
    return float(np.mean([bool(np.isin(places, top).any()) for places in question.supports]))


def stage1_recall(question: TrainingQuestion, k: int = 5) -> float:
    return recall(question, -question.place.astype(np.float64), k)


def _make_ranker(weights: Mapping[str, float], trees: Sequence[Mapping[str, Any]]) -> Ranker:
    return Ranker(
        features=tuple(weights),
        weights=np.array(list(weights.values())),
        trees=read_trees(trees, len(weights)) if trees else None,
        provenance={},
    )


def _partition(size: int, folds: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).permutation(size) % folds


def _select(questions: Sequence[TrainingQuestion], mask: NDArray[np.bool_]) -> Iterator[TrainingQuestion]:
    return (question for question, kept in zip(questions, mask, strict=True) if kept)
