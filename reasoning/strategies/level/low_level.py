"""What every low-level searcher of LevelRAG is: a query in, passages out, its rewriting its own affair."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Protocol

from core.ports.retrieval import Hit
from reasoning.engine.parallel import together
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic import Atomic

__all__ = ["LowLevel", "chunk_ids", "distinct", "searched"]


class LowLevel(Protocol):
    """Passages for an atomic query, best first, at most `k`; an empty corpus gives none and is no error."""

    async def search(self, session: Session, query: Atomic, k: int) -> tuple[Hit, ...]: ...


async def searched(session: Session, query: Atomic, k: int, searchers: Sequence[LowLevel]) -> tuple[Hit, ...]:
    """All searchers at once; their results one after the other, each passage once."""
    rankings = await together(searcher.search(session, query, k) for searcher in searchers)
    return distinct(chain.from_iterable(rankings))


def distinct(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Each passage once, where it came first."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.id, hit)
    return tuple(first.values())


def chunk_ids(hits: Iterable[Hit]) -> frozenset[str]:
    """Of the hits that are from the corpus."""
    return frozenset(hit.chunk.id for hit in hits if hit.url is None)
