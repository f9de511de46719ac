"""Judging a recipe by questions that its rankers have not seen: cross-validation, and transfer between sets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.ranker import Ranker
from retrieval.bridged.training.fitting import fit
from retrieval.bridged.training.recipes import Recipe, TrainingQuestion
from retrieval.bridged.trees import read_trees
from retrieval.candidates.fusion import order_by_score

__all__ = ["cross_validate", "evaluate_transfer", "recall", "stage1_recall"]

Floats = NDArray[np.float64]


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
    called with the number of fits that are done and the number of all.
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
    """Returns R@k of each question by the ranker that was fitted to the other sets, of which there must be at least
    one. `asked` are questions of the same sets in another form; if given, the rankers are judged by them instead.
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
