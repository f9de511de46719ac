"""The reranker that the settings ask for."""

from core.ports.reranking import Reranker
from core.settings import RerankerSettings

__all__ = ["make_reranker"]


def make_reranker(settings: RerankerSettings) -> Reranker | None:
    """None where none is configured; nothing is loaded or connected before it is used. Raises `InvalidSettings`.

    An adapter is imported when it is chosen: HTTP clients take a while.
    """
    if settings.kind == "cross-encoder":
        from models.rerankers import CrossEncoderReranker

        return CrossEncoderReranker(model=settings.model)
    if settings.kind == "http":
        from models.rerankers import HttpReranker

        return HttpReranker(url=settings.url, model=settings.model, api_key=settings.api_key, timeout=settings.timeout)
    return None
