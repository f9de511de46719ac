"""What a corpus lacks: vectors, a graph, or facts with vectors. Searchers that need them refuse it here."""

from core.corpora import Corpus
from core.errors import InvalidInput
from core.ports.retrieval import Query
from core.ports.views import VectorKind
from retrieval.backends import RetrievalBackends

__all__ = ["require_facts", "require_graph", "require_vectors"]


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


async def require_facts(query: Query, backends: RetrievalBackends, searcher: str) -> None:
    """Raises `InvalidInput` if the corpus has no vectors of facts, which this searcher needs."""
    if not await backends.vectors.count(query.corpus.id, VectorKind.FACT):
        settings = query.corpus.settings
        raise InvalidInput(
            f"{searcher}: corpus {query.corpus.name!r} has no vectors of facts (extractor {settings.extractor!r}, fine "
            f"store {settings.fine.value!r}): ingest the documents into a new corpus with an extractor that gives "
            "triples (`llm` or `given`) and fine=on or auto, or use another searcher"
        )
