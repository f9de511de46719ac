"""How near the passages of a search are to the question, by their cosine."""

from collections.abc import Sequence

from core.ports.embedding import Embedder, Vectors
from core.ports.retrieval import Hit
from reasoning.citations.quotes import passage_text

__all__ = ["find_cosines"]


async def find_cosines(embedder: Embedder, question: Vectors, hits: Sequence[Hit]) -> list[float]:
    """Returns the cosine of each hit with the question's vector.

    Hits of a searcher that computes no cosine, and those of the web, are embedded here.
    """
    texts = [passage_text(hit) for hit in hits if hit.signals.dense is None]
    computed = iter((await embedder.embed_passages(texts) @ question).tolist() if texts else ())
    return [float(next(computed) if hit.signals.dense is None else hit.signals.dense) for hit in hits]
