"""The reset vector of HippoRAG 2: weights of the seed entities and seed passages."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.arrays import Patched
from retrieval.hippo.fact_linking import LinkedFact

__all__ = ["entity_weights", "passage_weights"]


def entity_weights(
    facts: Sequence[LinkedFact], df: NDArray[np.int64] | Patched[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns the seed entities, ascending, and their weights.

    A weight is the mean score of the facts that name the entity, divided by the number of chunks that mention it. Only
    the `most` heaviest are kept, ties by number. A fact of weight 0 (the farthest of the corpus) adds no entity.
    """
    ends = np.array([end for fact in facts for end in (fact.subject, fact.object)], np.int64)
    scores = np.repeat(np.array([fact.score for fact in facts]), 2)
    entities, place = np.unique(ends, return_inverse=True)
    weights = np.bincount(place, scores, len(entities)) / np.bincount(place, minlength=len(entities))
    weights /= np.maximum(df[entities], 1)
    heaviest = np.sort(np.lexsort((entities, -weights))[:most])
    heaviest = heaviest[weights[heaviest] > 0]
    return entities[heaviest], weights[heaviest]


def passage_weights(cosines: NDArray[np.float64], least: float, weight: float) -> NDArray[np.float64]:
    """Returns `weight` for the nearest passage, 0 for one at the corpus' `least` cosine, and linear weights in
    between.
    """
    most = float(cosines.max(initial=least))
    scaled = (cosines - least) / (most - least) if most > least else np.ones_like(cosines)
    return weight * np.clip(scaled, 0.0, 1.0)
