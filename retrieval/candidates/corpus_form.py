"""What a corpus lacks by its settings: vectors, or a graph. Searchers that need them refuse it here."""

from core.corpora import Corpus
from core.errors import InvalidInput

__all__ = ["require_graph", "require_vectors"]


def require_vectors(corpus: Corpus, what: str) -> None:
    """Raises `InvalidInput` if the corpus has no vectors; `what` needs them."""
    if not corpus.settings.has_vectors:
        raise InvalidInput(
            f"{what} needs vectors, and corpus {corpus.name!r} has none: use the searcher bridged, fused or sparse, or "
            f"embed it with `hopweave corpora reindex {corpus.name} --embedding MODEL`"
        )


def require_graph(corpus: Corpus, what: str) -> None:
    """Raises `InvalidInput` if the corpus has no graph; `what` needs one."""
    if not corpus.settings.has_graph:
        raise InvalidInput(
            f"{what} needs entities, and corpus {corpus.name!r} has none: use the searcher bridged, fused or sparse, "
            f"or build its graph with `hopweave corpora reindex {corpus.name} --extractor pattern`"
        )
