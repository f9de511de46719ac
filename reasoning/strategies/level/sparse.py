"""The sparse low-level searcher: keywords instead of the question, refined breadth first until they find enough."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.verify import verify
from reasoning.actions.queries.refine_query import refine_query
from reasoning.actions.queries.rewrite_keywords import rewrite_keywords
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic import Atomic
from reasoning.strategies.level.keyword_query import KeywordQuery
from reasoning.strategies.level.low_level import chunk_ids

__all__ = ["Rewrite", "SparseSearch"]

Rewrite = Literal["always", "adaptive", "never"]


@dataclass(frozen=True, kw_only=True)
class _Try:
    """`chunks` are ids of those whose words the query may hold."""

    query: KeywordQuery
    depth: int
    chunks: frozenset[str]


class SparseSearch:
    """`plain` takes a query as words, `lucene` one with syntax; `refined` is how many refined queries may be tried."""

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

    async def search(self, session: Session, query: Atomic, k: int) -> tuple[Hit, ...]:
        if self._rewrite != "always":
            hits = await session.search(query.text, k, step=query.id, searcher=self._plain, private=query.private)
            if self._rewrite == "never" or await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                return hits
        words = await rewrite_keywords(session, query.text, step=query.id, chunks=query.chunks)
        return await self._breadth_first(session, query, k, KeywordQuery.of(words))

    async def _breadth_first(self, session: Session, query: Atomic, k: int, first: KeywordQuery) -> tuple[Hit, ...]:
        """The paper's Algorithm 1. The passages of the first query that brings enough, else of the last.

        No query is tried twice, and nothing is verified or refined where nothing could follow from it.
        """
        known = {first.key}
        queue = deque([_Try(query=first, depth=0, chunks=query.chunks)])
        while True:
            now = queue.popleft()
            private = query.private or now.depth > 0
            hits = await session.search(str(now.query), k, step=query.id, searcher=self._lucene, private=private)
            grows = now.depth < self._depth and len(known) <= self._refined
            if not (queue or grows):
                return hits
            if await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                return hits
            for refined in await self._refinements(session, query, now, hits) if grows else ():
                if refined.query.key not in known and len(known) <= self._refined:
                    known.add(refined.query.key)
                    queue.append(refined)
            if not queue:
                return hits

    async def _refinements(
        self, session: Session, query: Atomic, now: _Try, hits: tuple[Hit, ...]
    ) -> tuple[_Try, _Try, _Try]:
        words = await refine_query(session, query.text, str(now.query), hits, step=query.id, chunks=now.chunks)
        changed = (
            now.query.extend(words.extend),
            now.query.emphasize(words.emphasize),
            now.query.filter(words.filter),
        )
        chunks = now.chunks | chunk_ids(hits)
        extended, emphasized, filtered = (_Try(query=one, depth=now.depth + 1, chunks=chunks) for one in changed)
        return extended, emphasized, filtered
