"""Fitting a ranker to questions whose supporting passages are known, and judging it by questions it has not seen.

Needs the extra `train` (LightGBM, SciPy); what it makes is evaluated without either (`retrieval.bridged.ranker`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput
from retrieval.bridged.features import FEATURES
from retrieval.bridged.ranker import Ranker
from retrieval.bridged.trees import read_trees
from retrieval.candidates.fusion import ranked

__all__ = ["RECIPES", "Recipe", "TrainingQuestion", "cross_validated", "fit", "recall", "stage1_recall", "transferred"]

Floats = NDArray[np.float64]

_CANDIDATES = 70  # of each question, by stage 1, that the weights are fitted to, beside what supports it


@dataclass(frozen=True, kw_only=True)
class TrainingQuestion:
    """One question's candidates: `features` (n, f), `place` by stage 1, and which of them show each of its supports:
    none, for one that stage 1 has missed.
    """

    chunks: NDArray[np.int64]
    features: Floats
    place: NDArray[np.int64]
    supports: tuple[NDArray[np.int64], ...]

    @property
    def supporting(self) -> NDArray[np.bool_]:
        """Whether each candidate shows a support."""
        out = np.zeros(len(self.chunks), np.bool_)
        for places in self.supports:
            out[places] = True
        return out


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is fitted: which features, how strongly weights are held near 0, and how many forests of trees (0: none).

    Forests differ in their seeds alone, and are averaged: a few hundred questions leave a single one to chance.
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
"""Those of the shipped rankers, chosen by cross-validation on two question sets (docs/decisions)."""


def fit(questions: Sequence[TrainingQuestion], recipe: Recipe) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Weights by feature, and trees as `retrieval.bridged.trees.read_trees` reads them; deterministic."""
    usable = [question for question in questions if question.supporting.any()]
    if not usable:
        raise InvalidInput("no question has a supporting passage among its candidates; are the passages indexed?")
    weights = _fit_weights(usable, recipe.l2)
    rows = [row for forest in range(recipe.forests) for row in _fit_trees(questions, recipe, recipe.seed + forest)]
    return dict(zip(recipe.features, weights.tolist(), strict=True)), rows


def cross_validated(
    sets: Mapping[str, Sequence[TrainingQuestion]],
    recipe: Recipe,
    *,
    folds: int = 5,
    rounds: int = 3,
    k: int = 5,
    asked: Mapping[str, Sequence[TrainingQuestion]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Floats]:
    """R@k of every question by rankers fitted to the other folds of all sets, mean over `rounds` partitions.

    `asked` are the same questions in another form, which the rankers are judged by instead. `progress` is told how many
    of all the fits are done.
    """
    asked = asked or sets
    out = {name: np.zeros(len(questions)) for name, questions in sets.items()}
    for round_ in range(rounds):
        parts = {name: _partition(len(questions), folds, recipe.seed + round_) for name, questions in sets.items()}
        for fold in range(folds):
            seen = [q for name, questions in sets.items() for q in _among(questions, parts[name] != fold)]
            ranker = _ranker(*fit(seen, recipe))
            for name, questions in asked.items():
                for at in np.flatnonzero(parts[name] == fold).tolist():
                    out[name][at] += recall(questions[at], ranker.score(questions[at].features), k) / rounds
            if progress is not None:
                progress(round_ * folds + fold + 1, rounds * folds)
    return out


def transferred(sets: Mapping[str, Sequence[TrainingQuestion]], recipe: Recipe, *, k: int = 5) -> dict[str, Floats]:
    """R@k of every question by the ranker that was fitted to the other sets; there must be two at least."""
    out = {}
    for name, questions in sets.items():
        seen = [question for other, others in sets.items() if other != name for question in others]
        ranker = _ranker(*fit(seen, recipe))
        out[name] = np.array([recall(question, ranker.score(question.features), k) for question in questions])
    return out


def recall(question: TrainingQuestion, scores: Floats, k: int = 5) -> float:
    """The share of the supports that the first k candidates show."""
    top = ranked(question.chunks, scores)[:k]
    return float(np.mean([bool(np.isin(places, top).any()) for places in question.supports]))


def stage1_recall(question: TrainingQuestion, k: int = 5) -> float:
    return recall(question, -question.place.astype(np.float64), k)


def _ranker(weights: Mapping[str, float], trees: Sequence[Mapping[str, Any]]) -> Ranker:
    return Ranker(
        features=tuple(weights),
        weights=np.array(list(weights.values())),
        trees=read_trees(trees, len(weights)) if trees else None,
        provenance={},
    )


def _partition(size: int, folds: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).permutation(size) % folds


def _among(questions: Sequence[TrainingQuestion], mask: NDArray[np.bool_]) -> Iterator[TrainingQuestion]:
    return (question for question, kept in zip(questions, mask, strict=True) if kept)


def _fit_weights(questions: Sequence[TrainingQuestion], l2: float) -> Floats:
    """Listwise softmax: each question's probability mass belongs on its supports, in equal parts."""
    from scipy.optimize import minimize  # heavy, and of the extra `train`

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
    """One forest, its leaves weighing as a share of all forests."""
    import lightgbm  # heavy, and of the extra `train`

    features = np.concatenate([question.features for question in questions])
    labels = np.concatenate([question.supporting for question in questions]).astype(np.float64)
    settings = {
        "objective": "binary", "num_leaves": recipe.leaves, "learning_rate": recipe.rate,
        "min_data_in_leaf": recipe.smallest_leaf, "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1,
        "lambda_l2": 5.0, "seed": seed, "deterministic": True, "force_row_wise": True, "num_threads": 1,
        "verbose": -1,
    }  # fmt: skip
    booster = lightgbm.train(settings, lightgbm.Dataset(features, labels), recipe.trees)
    rows = [_rows(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    return [{**row, "leaf": [leaf / recipe.forests for leaf in row["leaf"]]} for row in rows]


def _rows(root: Mapping[str, Any]) -> dict[str, Any]:
    """A tree as lists: splits in the order of a walk from the root, children below zero are leaves."""
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
