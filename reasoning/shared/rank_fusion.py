"""Reciprocal rank fusion: several rankings of passages as one (Cormack et al., 2009)."""

from collections import defaultdict
from collections.abc import Sequence

from core.ports.retrieval import Hit

__all__ = ["fuse_rankings"]

_SMOOTHING = 60
"""The constant k of the paper."""


def fuse_rankings(rankings: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Returns each passage once, by the sum of its reciprocal ranks, highest first; equal sums by chunk id."""
    hits: dict[str, Hit] = {}
    mass: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            hits.setdefault(hit.chunk.id, hit)
            mass[hit.chunk.id] += 1 / (_SMOOTHING + rank)
    return tuple(hits[id] for id in sorted(hits, key=lambda chunk: (-mass[chunk], chunk)))
