"""`MeasuredSearcher`: a searcher whose searches and stages are measured under its name."""

from core.ports.retrieval import Query, Searcher, SearchResult
from core.telemetry.searching import measure_search
from core.trace import Trace

__all__ = ["MeasuredSearcher"]


class MeasuredSearcher:
    """Implements `core.ports.retrieval.Searcher` by another one."""

    def __init__(self, name: str, inner: Searcher) -> None:
        self._name = name
        self._inner = inner

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        with measure_search(self._name, query.corpus.name):
            return await self._inner.search(query, trace)
