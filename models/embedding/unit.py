"""Vectors of length one."""

import numpy as np

from core.errors import ModelFailed
from core.ports.embedding import Vectors

__all__ = ["normalised"]


def normalised(vectors: Vectors) -> Vectors:
    """Raises `ModelFailed` where a vector has no direction."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise ModelFailed("the embedding model answered with a vector that is zero or not finite: check its weights")
    unit: Vectors = (vectors / lengths).astype(np.float32, copy=False)
    return unit
