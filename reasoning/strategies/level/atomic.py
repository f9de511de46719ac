"""Atomic queries: what the high-level searcher hands down."""

import re
from dataclasses import dataclass

__all__ = ["Atomic", "asked_key"]

_END = re.compile(r"[\s.?!。？！]+$")


@dataclass(frozen=True, kw_only=True)
class Atomic:
    """A query that can be looked up as it is, and the id of its step.

    `private`: it may hold something of passages, which are then those of `chunks`.
    """

    id: str
    text: str
    private: bool
    chunks: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    depth: int = 0


def asked_key(text: str) -> str:
    """Equal for queries that differ in case, spaces and the mark at their end only."""
    return _END.sub("", " ".join(text.casefold().split()))
