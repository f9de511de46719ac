"""A searcher that is asked as it is, without rewriting: the web, and those of the graph."""

from core.ports.retrieval import Hit, Searcher
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic import Atomic

__all__ = ["PlainSearch"]


class PlainSearch:
    """The query goes to the searcher unchanged."""

    def __init__(self, searcher: tuple[str, Searcher]) -> None:
        self._searcher = searcher

    async def search(self, session: Session, query: Atomic, k: int) -> tuple[Hit, ...]:
        return await session.search(query.text, k, step=query.id, searcher=self._searcher, private=query.private)
