"""`AtomicQuery`: a query of the high-level searcher that the low-level searchers can look up as it is."""

import re
from dataclasses import dataclass

__all__ = ["AtomicQuery", "query_key"]

_END = re.compile(r"[\s.?!。？！]+$")


@dataclass(frozen=True, kw_only=True)
class AtomicQuery:
    """A query and the id of its step.

    If it is `private`, it may hold words of passages; `chunks` are the ids of these.
    """

    id: str
    text: str
    private: bool
    chunks: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    depth: int = 0


def query_key(text: str) -> str:
    """Returns a key that is equal for queries that differ only in case, spaces and the punctuation at their end."""
    return _END.sub("", " ".join(text.casefold().split()))
