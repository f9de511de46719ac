"""Several rankings as one, each passage once."""

from collections import defaultdict
from collections.abc import Sequence

from core.ports.retrieval import Hit

__all__ = ["union"]

_SMOOTHING = 60
"""Reciprocal rank fusion's constant (Cormack et al., 2009)."""


def union(rankings: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """All passages of the rankings, in the order of their reciprocal ranks' sums; ties are broken by chunk id."""
    hits: dict[str, Hit] = {}
    mass: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            hits.setdefault(hit.chunk.id, hit)
            mass[hit.chunk.id] += 1 / (_SMOOTHING + rank)
    return tuple(hits[id] for id in sorted(hits, key=lambda chunk: (-mass[chunk], chunk)))
