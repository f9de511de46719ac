"""The ports that reasoning works over."""

from dataclasses import dataclass

from core.ports.embedding import Embedder
from core.ports.retrieval import Searcher

__all__ = ["Backends"]


@dataclass(frozen=True, kw_only=True)
class Backends:
    """The searcher that the request chose, and the corpus' embedding model."""

    searcher: Searcher
    embedder: Embedder
