"""A searcher that adds facts to the result of another."""

from collections.abc import Sequence
from dataclasses import replace

from core.ports.retrieval import Fact, Query, Searcher, SearchResult
from core.trace import Trace

__all__ = ["FactsSearcher"]


class FactsSearcher:
    """Returns the same facts with each result, whether or not their passages are hits, if the query asks for them."""

    def __init__(self, inner: Searcher, facts: Sequence[Fact]) -> None:
        self._inner = inner
        self._facts = tuple(facts)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        result = await self._inner.search(query, trace)
        return replace(result, facts=self._facts if query.facts else ())
