"""Rankings of passages: how near passages are to the question, and several rankings as one."""

from collections import defaultdict
from collections.abc import Sequence

from core.ports.embedding import Embedder, Vectors
from core.ports.retrieval import Hit
from reasoning.citations.quotes import passage_text

__all__ = ["find_cosines", "fuse_rankings"]


async def find_cosines(embedder: Embedder, question: Vectors, hits: Sequence[Hit]) -> list[float]:
    """Returns the cosine of each hit with the question's vector.

    Hits of a searcher that computes no cosine, and hits of the web, are embedded here.
    """
    texts = [passage_text(hit) for hit in hits if hit.signals.dense is None]
    computed = iter((await embedder.embed_passages(texts) @ question).tolist() if texts else ())
    return [float(next(computed) if hit.signals.dense is None else hit.signals.dense) for hit in hits]


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
