"""Scales vectors to length one, also after a cut (Matryoshka models) or a lift (to compare dot products)."""

import numpy as np

from core.errors import ModelFailed
from core.ports.embedding import Vectors
from core.ports.embedding_form import EmbeddingForm


def normalize(vectors: Vectors) -> Vectors:
    """Returns the vectors scaled to length one, as float32. Raises `ModelFailed` if a vector is zero or not finite."""
    lengths = _measure(vectors)
    if not np.all(lengths > 0):
        raise ModelFailed(_USELESS)
    unit: Vectors = (vectors / lengths).astype(np.float32, copy=False)
    return unit


def cut(vectors: Vectors, dimension: int) -> Vectors:
    """Returns the first `dimension` numbers of each vector, scaled to length one; all numbers if there are no more."""
    return normalize(vectors[:, :dimension]) if vectors.shape[1] > dimension else vectors


def lift(vectors: Vectors, longest: float) -> Vectors:
    """Returns the vectors of passages divided by `longest`, each with an additional number that makes its length one.

    The cosine with a lifted question is the dot product with the question divided by the lengths of the question and
    `longest`, so it ranks as the dot product does (Bachrach and others, "Speeding Up the Xbox Recommender System",
    RecSys 2014). Raises `ModelFailed` if a vector is longer, or not finite.
    """
    lengths = _measure(vectors)
    if (most := float(lengths.max(initial=0.0))) > longest:
        raise ModelFailed(
            f"the embedding model answered with a vector of length {most:.4g}, and vectors of the form dot={longest:g} "
            f"are at most {longest:g} long: set HOPWEAVE_EMBEDDING__DOT to a greater number, and reindex"
        )
    rest = np.sqrt(1.0 - np.square(lengths / longest, dtype=np.float64))
    lifted: Vectors = np.concatenate([vectors / longest, rest], axis=1).astype(np.float32)
    return lifted


def lift_questions(vectors: Vectors) -> Vectors:
    """Returns the vectors of questions at length one, each with a zero appended, to compare with lifted passages."""
    return np.pad(normalize(vectors), ((0, 0), (0, 1)))


def finish(vectors: Vectors, form: EmbeddingForm, *, queries: bool) -> Vectors:
    """Returns vectors of a model, which are not scaled if the form has `dot`, as the form has them."""
    if form.dot is None:
        return vectors if form.dimension is None else cut(vectors, form.dimension)
    some = vectors[:, : form.dimension]
    return lift_questions(some) if queries else lift(some, form.dot)


_USELESS = "the embedding model answered with a vector that is zero or not finite: check its weights"


def _measure(vectors: Vectors) -> Vectors:
    """Returns the lengths (n, 1). Raises `ModelFailed` if a vector is not finite."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)):
        raise ModelFailed(_USELESS)
    return lengths
