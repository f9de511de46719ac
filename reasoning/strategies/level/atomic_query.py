"""`AtomicQuery`: a query of the high-level searcher that the low-level searchers can look up as it is."""

import re
from dataclasses import dataclass

__all__ = ["AtomicQuery", "query_key"]

_END = re.compile(r"[\s.?!。？！]+$")


@dataclass(frozen=True, kw_only=True)
class AtomicQuery:
    """A query and the id of its step.

    `private` is that of `Session.search`: None leaves it to the words of the query. `chunks` are the ids of the chunks
    whose words the query may hold.
    """

    id: str
    text: str
    private: bool | None
    chunks: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    depth: int = 0


def query_key(text: str) -> str:
    """Returns a key that is equal for queries that differ only in case, spaces and the punctuation at their end."""
    return _END.sub("", " ".join(text.casefold().split()))
