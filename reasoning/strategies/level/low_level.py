"""LevelRAG's low-level searchers: their protocol, the search with several of them, and `DenseSearch`.

An `AtomicQuery` is a query of the high-level searcher that the low-level searchers can look up as it is. A
`CallAllowance` is the number of calls of a model that are left to a question, or to a part of its work. `DenseSearch`
searches with pseudo-documents while its passages do not suffice. `UnchangedSearch` rewrites nothing; it is for the web
and for the searchers of the graph.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.judgements import verify
from reasoning.actions.queries.search_queries import pseudo_document
from reasoning.engine.session import Session, gather


@dataclass(frozen=True, kw_only=True)
class AtomicQuery:
    """A query and the id of its step.

    `private` has the meaning that it has in `Session.search`: None leaves it to what was shown before. `chunks` are the
    ids of the chunks whose words the query may hold.
    """

    id: str
    text: str
    private: bool | None
    chunks: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    depth: int = 0


class CallAllowance:
    """`left` calls may still be made. `refused` tells whether a call was refused.

    A call that is repeated, since its reply could not be read, counts once. Work that runs at the same time gets
    shares of its own, so that the same question always makes the same calls.
    """

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.refused = False

    def take(self, calls: int = 1) -> bool:
        """Takes so many calls and returns True, or takes none and returns False if there are fewer."""
        if self.left < calls:
            self.refused = True
            return False
        self.left -= calls
        return True

    def give_back(self, calls: int = 1) -> None:
        """Returns calls that were taken and not made."""
        self.left += calls

    def share_out(self, calls: int, parts: int) -> list["CallAllowance"]:
        """Takes so many calls and returns them in shares, the greater first, which differ by one call at most."""
        self.left -= calls
        return [CallAllowance(calls // parts + (part < calls % parts)) for part in range(parts)]

    def collect(self, shares: Iterable["CallAllowance"]) -> None:
        """Takes back what is left of the shares."""
        for share in shares:
            self.left += share.left
            share.left = 0


class CommonAllowance(CallAllowance):
    """All work takes from the same calls, so that no part is refused a call while some are left.

    If the calls run out while work runs at the same time, the part that gets the last calls may differ from run to run.
    """

    def share_out(self, calls: int, parts: int) -> list[CallAllowance]:  # noqa: ARG002  # nothing is set apart
        """Returns this allowance for each part."""
        return [self] * parts

    def collect(self, shares: Iterable[CallAllowance]) -> None:
        """Does nothing, since all work took from here."""


class LowLevelSearcher(Protocol):
    """Finds at most `k` passages for an atomic query, best first. It may rewrite the query for its index.

    It makes no more calls of a model than are left to it, and none unless it `calls_models`. An empty corpus gives
    no passages and is no error.
    """

    @property
    def calls_models(self) -> bool: ...

    async def search(self, session: Session, query: AtomicQuery, k: int, calls: CallAllowance) -> tuple[Hit, ...]: ...


async def search_all(
    session: Session, query: AtomicQuery, k: int, searchers: Sequence[LowLevelSearcher], calls: CallAllowance
) -> tuple[Hit, ...]:
    """Runs all searchers at the same time, and returns their results one after the other, each passage once.

    Searchers that call a model get equal shares of `calls`.
    """
    calling = [searcher for searcher in searchers if searcher.calls_models]
    shares = iter(calls.share_out(calls.left, len(calling)) if calling else ())
    given = [next(shares) if searcher.calls_models else CallAllowance(0) for searcher in searchers]
    rankings = await gather(
        searcher.search(session, query, k, share) for searcher, share in zip(searchers, given, strict=True)
    )
    calls.refused |= any(share.refused for share in given)
    calls.collect(given)
    return distinct_hits(chain.from_iterable(rankings))


def distinct_hits(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Returns each passage once, at its first place."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.id, hit)
    return tuple(first.values())


def chunk_ids(hits: Iterable[Hit]) -> frozenset[str]:
    """Returns the ids of the chunks of the corpus; passages of the web are left out."""
    return frozenset(hit.chunk.id for hit in hits if hit.url is None)


class DenseSearch:
    """Writes the first pseudo-document from the query alone, and later ones from the passages that were found last.

    At most `rewrites` pseudo-documents are tried. With `judge_all`, all retrievals are verified, as in the paper.
    Otherwise, the search ends when the passages barely changed, and the passages of the last retrieval are not
    verified, because nothing would follow from it.
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


_MIN_NEW = 0.2
"""The share of new passages below which a set has barely changed: fewer than two of ten."""


class JudgedPassages:
    """The sets of passages that did not suffice. A set with only one new passage of ten will not suffice, either."""

    def __init__(self) -> None:
        self._sets: list[frozenset[str]] = []

    def add(self, hits: Sequence[Hit]) -> None:
        """Records a set that did not suffice."""
        self._sets.append(_ids(hits))

    def barely_changed(self, hits: Sequence[Hit]) -> bool:
        """Whether nearly all of the passages are in one set that did not suffice."""
        ids = _ids(hits)
        return any(ids == judged or len(ids - judged) < _MIN_NEW * len(ids) for judged in self._sets)


def _ids(hits: Sequence[Hit]) -> frozenset[str]:
    return frozenset(hit.chunk.id for hit in hits)


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
