"""How near the best passage of a search is to the question: the evidence that a corpus can answer it at all."""

from collections.abc import Sequence

from core.ports.embedding import Embedder, Vectors
from core.ports.retrieval import Hit
from reasoning.citations.quotes import passage_text

__all__ = ["find_similarity"]


async def find_similarity(embedder: Embedder, question: Vectors, hits: Sequence[Hit]) -> float:
    """Returns the greatest cosine of a hit with the question's vector; -1 without hits.

    Hits of a searcher that computes no cosine, and those of the web, are embedded here.
    """
    cosines = [hit.signals.dense for hit in hits if hit.signals.dense is not None]
    texts = [passage_text(hit) for hit in hits if hit.signals.dense is None]
    if texts:
        cosines += (await embedder.embed_passages(texts) @ question).tolist()
    return float(max(cosines, default=-1.0))
