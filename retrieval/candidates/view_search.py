"""Searches of the vector store and the text index, with results as chunks of one snapshot."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.retrieval import Query
from core.ports.views import Scored, VectorKind
from core.text.query import TextQuery, any_of
from core.text.terms import WORD
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["ScoredChunks", "compute_cosines", "fetch_vectors", "find_few", "search_text", "search_vectors"]

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
    """Returns the `count` chunks that match the question's words best, with BM25 scores; each word counts once.

    `asked` replaces the words of the question, for callers that have parsed it.
    """
    words = asked or any_of(tuple(dict.fromkeys(WORD.findall(query.text.lower()))))

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
