"""The dense low-level searcher: while its passages do not suffice, it looks for what a good one would say instead."""

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.verify import verify
from reasoning.actions.queries.pseudo_document import pseudo_document
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic import Atomic

__all__ = ["DenseSearch"]


class DenseSearch:
    """The first pseudo-document is written from the query alone, later ones from what was retrieved last.

    Whether the passages of the last rewriting suffice is not asked: nothing would follow from it.
    """

    def __init__(self, searcher: tuple[str, Searcher], rewrites: int) -> None:
        self._searcher = searcher
        self._rewrites = rewrites

    async def search(self, session: Session, query: Atomic, k: int) -> tuple[Hit, ...]:
        hits = await self._asked(session, query, query.text, k, private=query.private)
        for rewriting in range(self._rewrites):
            if await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                return hits
            known = hits if rewriting else ()
            document = await pseudo_document(session, query.text, known, step=query.id, chunks=query.chunks)
            if not document:
                return hits
            private = query.private or bool(known)
            hits = await self._asked(session, query, f"{query.text} {document}", k, private=private)
        return hits

    async def _asked(self, session: Session, query: Atomic, text: str, k: int, *, private: bool) -> tuple[Hit, ...]:
        return await session.search(text, k, step=query.id, searcher=self._searcher, private=private)
