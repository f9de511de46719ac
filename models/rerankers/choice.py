"""Chooses the reranker of the settings."""

from core.ports.retrieval import Reranker
from core.settings import RerankerSettings


def make_reranker(settings: RerankerSettings) -> Reranker | None:
    """Returns the reranker, or None if none is configured. Loads and connects nothing before it is used.

    Adapters are imported only when chosen, since HTTP clients are slow to import. Raises `InvalidSettings`.
    """
    if settings.kind == "cross-encoder":
        from models.rerankers import CrossEncoderReranker

        return CrossEncoderReranker(model=settings.model)
    if settings.kind == "colbert":
        from models.rerankers import ColBertReranker

        return ColBertReranker(model=settings.model)
    if settings.kind == "http":
        from models.rerankers import HttpReranker

        return HttpReranker(
            url=settings.url,
            model=settings.model,
            api_key=settings.api_key,
            timeout=settings.timeout,
            api=settings.api,
        )
    return None
