"""`AtomicQuery`: a query of the high-level searcher that the low-level searchers can look up as it is."""

from dataclasses import dataclass

__all__ = ["AtomicQuery"]


@dataclass(frozen=True, kw_only=True)
class AtomicQuery:
    """A query and the id of its step.

    `private` is that of `Session.search`: None leaves it to what was shown before. `chunks` are the ids of the chunks
    whose words the query may hold.
    """

    id: str
    text: str
    private: bool | None
    chunks: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    depth: int = 0
