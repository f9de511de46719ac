"""x"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.features import FEATURES

__all__ = ["RECIPES", "Recipe", "TrainingQuestion"]

Floats = NDArray[np.float64]


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
