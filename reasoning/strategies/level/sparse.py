"""`SparseSearch`: the sparse low-level searcher. It decides whether a query is rewritten as keywords."""

from dataclasses import dataclass
from typing import Literal

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.judgements import verify
from reasoning.actions.queries.search_queries import rewrite_keywords
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance
from reasoning.strategies.level.keyword_query import KeywordQuery
from reasoning.strategies.level.keyword_search import KeywordRules, KeywordSearch

__all__ = ["Rewrite", "SparseSearch"]

Rewrite = Literal["always", "adaptive", "never"]


@dataclass(frozen=True, kw_only=True)
class SparseSearch:
    """`plain` takes queries of words, `lucene` queries with Lucene's syntax.

    Without calls for keywords, the query is searched for as it is.
    """

    plain: tuple[str, Searcher]
    lucene: tuple[str, Searcher]
    rewrite: Rewrite
    rules: KeywordRules

    @property
    def calls_models(self) -> bool:
        return self.rewrite != "never"

    async def search(self, session: Session, query: AtomicQuery, k: int, calls: CallAllowance) -> tuple[Hit, ...]:
        always = self.rewrite == "always"
        if not always or not calls.take():
            hits = await session.search(query.text, k, step=query.id, searcher=self.plain, private=query.private)
            if always or self.rewrite == "never" or not calls.take(2 if hits else 1):
                return hits
            if await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                calls.give_back()
                return hits
        words = await rewrite_keywords(session, query.text, step=query.id, chunks=query.chunks)
        search = KeywordSearch(session, query, k, self.lucene, self.rules, calls)
        return await search.run(KeywordQuery.of(words))
