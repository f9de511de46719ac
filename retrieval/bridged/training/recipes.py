"""The recipes of the shipped rankers, and the training data: a question with its candidates."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.features import FEATURES

__all__ = ["RECIPES", "Recipe", "TrainingQuestion"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TrainingQuestion:
    """The candidates of one question: `features` (n, f), and `place` by stage 1.

    `supports` has for each support the candidates that show it; empty for one that stage 1 missed.
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

    Forests differ in their seeds alone and are averaged, since a single one varies much with a few hundred questions.
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
