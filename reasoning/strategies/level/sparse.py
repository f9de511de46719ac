"""`SparseSearch`: the sparse low-level searcher. It refines keywords breadth first until they suffice."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.verify import verify
from reasoning.actions.queries.refine_query import refine_query
from reasoning.actions.queries.rewrite_keywords import rewrite_keywords
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.keyword_query import KeywordQuery
from reasoning.strategies.level.low_level import chunk_ids

__all__ = ["Rewrite", "SparseSearch"]

Rewrite = Literal["always", "adaptive", "never"]


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """A keyword query to try. `chunks` are ids of the chunks whose words it may hold."""

    query: KeywordQuery
    depth: int
    chunks: frozenset[str]


class SparseSearch:
    """`plain` takes queries of words, `lucene` queries with Lucene's syntax.

    At most `refined` refined queries are tried, up to `depth` refinements of refinements.
    """

    def __init__(
        self,
        *,
        plain: tuple[str, Searcher],
        lucene: tuple[str, Searcher],
        rewrite: Rewrite,
        depth: int,
        refined: int,
    ) -> None:
        self._plain = plain
        self._lucene = lucene
        self._rewrite = rewrite
        self._depth = depth
        self._refined = refined

    async def search(self, session: Session, query: AtomicQuery, k: int) -> tuple[Hit, ...]:
        if self._rewrite != "always":
            hits = await session.search(query.text, k, step=query.id, searcher=self._plain, private=query.private)
            if self._rewrite == "never" or await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                return hits
        words = await rewrite_keywords(session, query.text, step=query.id, chunks=query.chunks)
        return await self._breadth_first(session, query, k, KeywordQuery.of(words))

    async def _breadth_first(
        self, session: Session, query: AtomicQuery, k: int, first: KeywordQuery
    ) -> tuple[Hit, ...]:
        """Returns the passages of the first query that finds enough, else of the last (algorithm 1 of the paper).

        No query is tried twice, and nothing is verified or refined if nothing could follow from it.
        """
        known = {first.key}
        queue = deque([_Attempt(query=first, depth=0, chunks=query.chunks)])
        while True:
            attempt = queue.popleft()
            private = query.private or attempt.depth > 0
            hits = await session.search(str(attempt.query), k, step=query.id, searcher=self._lucene, private=private)
            grows = attempt.depth < self._depth and len(known) <= self._refined
            if not (queue or grows):
                return hits
            if await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                return hits
            for refined in await self._refinements(session, query, attempt, hits) if grows else ():
                if refined.query.key not in known and len(known) <= self._refined:
                    known.add(refined.query.key)
                    queue.append(refined)
            if not queue:
                return hits

    async def _refinements(
        self, session: Session, query: AtomicQuery, attempt: _Attempt, hits: tuple[Hit, ...]
    ) -> tuple[_Attempt, _Attempt, _Attempt]:
        words = await refine_query(session, query.text, str(attempt.query), hits, step=query.id, chunks=attempt.chunks)
        queries = (
            attempt.query.extend(words.extend),
            attempt.query.emphasize(words.emphasize),
            attempt.query.filter(words.filter),
        )
        chunks = attempt.chunks | chunk_ids(hits)
        extended, emphasized, filtered = (
            _Attempt(query=changed, depth=attempt.depth + 1, chunks=chunks) for changed in queries
        )
        return extended, emphasized, filtered
