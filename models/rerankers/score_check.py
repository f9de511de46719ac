"""Checks the scores that a model returns."""

import reprlib
import sys
from collections.abc import Iterable
from typing import Any

from core.errors import ModelFailed

__all__ = ["check_scores"]


def check_scores(values: Iterable[Any], count: int, model: str) -> list[float]:
    """Returns one finite number per text. Raises `ModelFailed`, naming the model, for anything else."""
    scores = list(values)
    if len(scores) != count:
        raise ModelFailed(f"{model} answered with {len(scores)} scores for {count} texts")
    for score in scores:
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if not is_number or not -sys.float_info.max <= score <= sys.float_info.max:  # nor NaN
            raise ModelFailed(f"{model} answered with {reprlib.repr(score)}, which is no score")
    return [float(score) for score in scores]
