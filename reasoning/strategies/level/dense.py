"""`DenseSearch`: the dense low-level searcher. It searches with pseudo-documents while its passages do not suffice."""

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.judgements import verify
from reasoning.actions.queries.search_queries import pseudo_document
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance
from reasoning.strategies.level.judged_passages import JudgedPassages

__all__ = ["DenseSearch"]


class DenseSearch:
    """Writes the first pseudo-document from the query alone, and later ones from the passages that were found last.

    At most `rewrites` are tried. With `judge_all`, all retrievals are verified, as in the paper. Otherwise, no further
    one is tried after the passages barely changed, and the passages of the last one are not verified, because nothing
    would follow from it.
    """

    def __init__(self, searcher: tuple[str, Searcher], rewrites: int, *, judge_all: bool) -> None:
        self._searcher = searcher
        self._rewrites = rewrites
        self._judge_all = judge_all

    @property
    def calls_models(self) -> bool:
        return self._rewrites > 0

    async def search(self, session: Session, query: AtomicQuery, k: int, calls: CallAllowance) -> tuple[Hit, ...]:
        hits = await self._search(session, query, query.text, k, private=query.private)
        judged = JudgedPassages()
        for rewriting in range(self._rewrites):
            barely_changed = not self._judge_all and judged.barely_changed(hits)
            if barely_changed or not calls.take(2 if hits else 1):
                return hits
            if await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                calls.give_back()
                return hits
            judged.add(hits)
            read = hits if rewriting else ()
            document = await pseudo_document(session, query.text, read, step=query.id, chunks=query.chunks)
            if not document:
                return hits
            private = None if read else query.private
            hits = await self._search(session, query, f"{query.text} {document}", k, private=private)
        if self._judge_all and self._rewrites and hits and calls.take():
            await verify(session, query.text, hits, step=query.id, chunks=query.chunks)
        return hits

    async def _search(
        self, session: Session, query: AtomicQuery, text: str, k: int, *, private: bool | None
    ) -> tuple[Hit, ...]:
        return await session.search(text, k, step=query.id, searcher=self._searcher, private=private)
