"""Normalizes vectors to length one, and cuts those of Matryoshka models."""

import numpy as np

from core.errors import ModelFailed
from core.ports.embedding import Vectors

__all__ = ["cut", "normalize"]


def normalize(vectors: Vectors) -> Vectors:
    """Returns the vectors scaled to length one, as float32. Raises `ModelFailed` if one is zero or not finite."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise ModelFailed("the embedding model answered with a vector that is zero or not finite: check its weights")
    unit: Vectors = (vectors / lengths).astype(np.float32, copy=False)
    return unit


def cut(vectors: Vectors, dimension: int) -> Vectors:
    """Returns the first `dimension` numbers of each vector, at length one again; all of them if there are no more."""
    return normalize(vectors[:, :dimension]) if vectors.shape[1] > dimension else vectors
