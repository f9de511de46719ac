"""What a search needs of its corpus: vectors, a graph or facts, an up-to-date snapshot; and the searches of its views.

The views are the vector store and the text index. Their results are chunks of one snapshot.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.corpora import Corpus
from core.errors import InvalidInput
from core.ports.embedding import Vectors
from core.ports.retrieval import Query, SearchResult
from core.ports.views import Scored, VectorKind
from core.text.query import Term, TextQuery
from core.text.terms import MOST_REPEATED, WORD
from core.text.word_lists import SMALL_WORDS
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot


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


_SPARE = 16
"""Entries that are requested beyond the wanted number, since a view may hold some that the snapshot does not know."""
_FURTHEST = 8192
"""Entries that are requested at most without naming documents."""


@dataclass(frozen=True, kw_only=True)
class ScoredChunks:
    """Chunks (by number in the snapshot) with their scores, best first.

    `unknown` are the view's entries that were left out, as the snapshot has no chunk for them, best first.
    """

    chunks: NDArray[np.int64]
    scores: NDArray[np.float64]
    unknown: tuple[str, ...] = ()


async def search_vectors(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, vector: Vectors, count: int
) -> ScoredChunks:
    """Returns the `count` chunks whose vectors are nearest to `vector`, with their cosines."""

    async def search(k: int, documents: Collection[str] | None) -> list[Scored]:
        return await backends.vectors.search(query.corpus.id, VectorKind.CHUNK, vector, k, documents)

    return await _search_known(search, query, snapshot, count)


async def search_text(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, count: int, asked: TextQuery | None = None
) -> ScoredChunks:
    """Returns the `count` chunks that match the question's words best, with BM25 scores; a word that the question
    repeats counts twice.

    `asked` replaces the words of the question, for callers that have parsed it.
    """
    words = asked or TextQuery(
        should=tuple(
            Term(text=word, boost=1 if word in SMALL_WORDS else min(count, MOST_REPEATED))
            for word, count in Counter(WORD.findall(query.text.lower())).items()
        )
    )

    async def search(k: int, documents: Collection[str] | None) -> list[Scored]:
        return await backends.text.search(query.corpus.id, words, k, documents)

    return await _search_known(search, query, snapshot, count)


async def find_few(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, asked: Sequence[tuple[TextQuery, int]]
) -> list[NDArray[np.int64]]:
    """Returns for each text query all chunks that it matches, ascending. A query gets no chunks if it matches more than
    the number that is given with it, or more than `_SPARE` further entries that the snapshot does not know.
    """
    with_spare = [(words, most + _SPARE) for words, most in asked]
    found = []
    for (_, most), ids in zip(
        asked, await backends.text.find_few(query.corpus.id, with_spare, query.documents), strict=True
    ):
        chunks = snapshot.chunks_of_views(ids)
        known = np.unique(chunks[chunks >= 0])
        found.append(known if len(known) <= most else known[:0])
    return found


async def fetch_vectors(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, chunks: NDArray[np.int64]
) -> Vectors:
    """Returns the chunks' vectors, (n, dimension); a row is 0 where the vector store has none (yet)."""
    settings = query.corpus.settings
    out = np.zeros((len(chunks), backends.embedder.dimension if settings.has_vectors else 0), np.float32)
    if out.size:
        view_ids = snapshot.view_ids(chunks)
        rows = await backends.vectors.fetch(query.corpus.id, VectorKind.CHUNK, view_ids)
        there = [i for i, view_id in enumerate(view_ids) if view_id in rows]
        if there:
            out[there] = np.concatenate([rows[view_ids[i]] for i in there]).reshape(len(there), -1)
    return out


def compute_cosines(vectors: Vectors, question: Vectors) -> NDArray[np.float64]:
    """Returns the cosine of the question with each row of `vectors` (n, dimension), all of length 1; NaN for a row of
    0.
    """
    known = vectors.any(axis=1)
    return np.where(known, vectors @ question, np.nan).astype(np.float64)


async def _search_known(
    search: Callable[[int, Collection[str] | None], Awaitable[list[Scored]]],
    query: Query,
    snapshot: GraphSnapshot,
    count: int,
) -> ScoredChunks:
    """Returns the first `count` results that the snapshot knows.

    Views also hold entries of disabled documents, which the snapshot does not know. Where there are too few results,
    more are requested; when that costs as much as naming the documents of the snapshot, the search is restricted to
    these. It ends with `count` results or the last entry.
    """
    asked, documents = count + _SPARE, query.documents
    while True:
        scored = await search(asked, documents)
        chunks = snapshot.chunks_of_views([hit.id for hit in scored])
        known = np.flatnonzero(chunks >= 0)[:count]
        if len(known) == count or len(scored) < asked:
            break
        if documents is None and 4 * asked >= min(snapshot.document_count, _FURTHEST):
            documents = snapshot.documents
        else:
            asked *= 4
    scores = np.array([hit.score for hit in scored], np.float64)
    unknown = tuple(scored[place].id for place in np.flatnonzero(chunks < 0).tolist())
    return ScoredChunks(chunks=chunks[known], scores=scores[known], unknown=unknown)
