"""The parts of a hit's score, which `scoring` computes, on the hits that ask for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.ports.retrieval import Hit

__all__ = ["add_contributions"]

Floats = NDArray[np.float64]


def add_contributions(hits: Sequence[Hit], places: Sequence[int], parts: Mapping[str, Floats]) -> tuple[Hit, ...]:
    """Returns the hits, which are at `places` among the candidates, each with its parts."""
    return tuple(
        replace(hit, contributions={name: float(values[place]) for name, values in parts.items()})
        for hit, place in zip(hits, places, strict=True)
    )
