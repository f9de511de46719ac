"""Checks that a corpus has what a search needs: vectors, a graph or facts, and an up-to-date snapshot.

Between the commit of a revision and the next refresh of the snapshot, the snapshot names chunks that the record no
longer has, and the views hold entries of chunks that the snapshot does not have. A search that finds its snapshot
outdated is made once more with a newer snapshot.
"""

from collections.abc import Awaitable, Callable, Sequence

from core.corpora import Corpus
from core.errors import InvalidInput
from core.ports.retrieval import Query, SearchResult
from core.ports.views import VectorKind
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["is_replaced", "require_facts", "require_graph", "require_vectors", "search_current"]


def require_vectors(corpus: Corpus, what: str) -> None:
    """Raises `InvalidInput` if the corpus has no vectors; `what` needs them."""
    if not corpus.settings.has_vectors:
        raise InvalidInput(
            f"{what} needs vectors, and corpus {corpus.name!r} has none: use the searcher bridged, fused or sparse, or "
            f"embed it with `hopweave corpora reindex {corpus.name} --embedding MODEL`"
        )


def require_graph(corpus: Corpus, what: str) -> None:
    """Raises `InvalidInput` if the corpus has no graph; `what` needs a graph."""
    if not corpus.settings.has_graph:
        raise InvalidInput(
            f"{what} needs entities, and corpus {corpus.name!r} has none: use the searcher bridged, fused or sparse, "
            f"or build its graph with `hopweave corpora reindex {corpus.name} --extractor pattern`"
        )


async def require_facts(corpus: Corpus, backends: RetrievalBackends, searcher: str) -> None:
    """Raises `InvalidInput` if the corpus has no vectors of facts, which this searcher needs."""
    if not await backends.vectors.count(corpus.id, VectorKind.FACT):
        settings = corpus.settings
        raise InvalidInput(
            f"{searcher}: corpus {corpus.name!r} has no vectors of facts (extractor {settings.extractor!r}, fine "
            f"store {settings.fine.value!r}): ingest the documents into a new corpus with an extractor that gives "
            "triples (`llm` or `given`) and fine=on or auto, or use another searcher"
        )


_COMPARED = 200
"""The greatest number of unknown entries that are looked up, the best first."""


async def search_current(
    backends: RetrievalBackends,
    query: Query,
    trace: Trace,
    search: Callable[[Query, GraphSnapshot, Trace], Awaitable[SearchResult]],
) -> SearchResult:
    """Returns the result of `search`; if it is `outdated` and the record has a later generation, the result of a second
    search.

    The second result is returned as it is, so the number of searches is bounded however often the corpus is written.
    """
    corpus_id = query.corpus.id
    if query.min_similarity is not None:
        require_vectors(query.corpus, "min_similarity")
    snapshot = await backends.snapshots.get(corpus_id, min_generation=query.min_generation, trace=trace)
    result = await search(query, snapshot, trace)
    newer = await backends.snapshots.follow(corpus_id, snapshot) if result.outdated else None
    if newer is None:
        return result
    await backends.vectors.await_writes(corpus_id)
    return await search(query, newer, trace)


async def is_replaced(
    unknown: Sequence[str], query: Query, snapshot: GraphSnapshot, backends: RetrievalBackends
) -> bool:
    """Returns whether view entries that the snapshot does not know are of a later revision of a document that it knows.

    Entries of new documents, of revisions before their commit, and of deleted chunks do not count. If the snapshot is
    of the current generation, this costs one read of a number.
    """
    corpus_id = query.corpus.id
    if not unknown or await backends.snapshots.is_current(corpus_id, snapshot):
        return False
    chunks = await backends.contents.get_chunks_by_view(corpus_id, unknown[:_COMPARED])
    return snapshot.has_any_document({chunk.document_id for chunk in chunks.values()})
