"""Scores as they come from a model, checked."""

import math
from collections.abc import Iterable
from typing import Any

from core.errors import ModelFailed

__all__ = ["checked_scores"]


def checked_scores(values: Iterable[Any], count: int, model: str) -> list[float]:
    """One finite number a text; raises `ModelFailed`, naming the model, for anything else."""
    scores = list(values)
    if len(scores) != count:
        raise ModelFailed(f"{model} answered with {len(scores)} scores for {count} texts")
    for score in scores:
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ModelFailed(f"{model} answered with {score!r}, which is no score")
    return [float(score) for score in scores]
