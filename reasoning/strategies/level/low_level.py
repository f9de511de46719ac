"""`LowLevelSearcher`: the protocol of LevelRAG's low-level searchers, and the search with several of them."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Protocol

from core.ports.retrieval import Hit
from reasoning.engine.parallel import gather
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance

__all__ = ["LowLevelSearcher", "chunk_ids", "distinct_hits", "search_all"]


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

    Those that call a model get equal shares of `calls`.
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
