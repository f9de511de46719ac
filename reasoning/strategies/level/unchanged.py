"""`UnchangedSearch`: a low-level searcher that rewrites nothing, for the web and for the searchers of the graph."""

from core.ports.retrieval import Hit, Searcher
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance

__all__ = ["UnchangedSearch"]


class UnchangedSearch:
    """Passes each query to the searcher unchanged."""

    calls_models = False

    def __init__(self, searcher: tuple[str, Searcher]) -> None:
        self._searcher = searcher

    async def search(
        self,
        session: Session,
        query: AtomicQuery,
        k: int,
        calls: CallAllowance,  # noqa: ARG002  # as all low-level searchers
    ) -> tuple[Hit, ...]:
        return await session.search(query.text, k, step=query.id, searcher=self._searcher, private=query.private)
