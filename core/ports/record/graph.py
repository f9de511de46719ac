"""The graph as columns of ids, whole or as changes, for snapshots in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["GraphChanges", "GraphRows", "GraphSource"]


@dataclass(frozen=True, kw_only=True)
class GraphRows:
    """The graph's rows as columns of ids. `chunks` are (chunk id, document id, view id); a mention's count is the sum
    over its forms; facts are (chunk id, subject id, object id), one per assertion; synonyms (entity, entity, cosine).
    `entities` are (entity id, normalised name) of every entity that the other rows name.
    """

    chunks: Sequence[tuple[str, str, str]]
    entities: Sequence[tuple[str, str]]
    mentions: Sequence[tuple[str, str, int]]
    facts: Sequence[tuple[str, str, str]]
    synonyms: Sequence[tuple[str, str, float]]


@dataclass(frozen=True, kw_only=True)
class GraphChanges:
    """What leads from one generation to a later one: drop the `removed` chunks with their rows and all synonyms of the
    entities `synonyms_of`, then add `added`. A changed chunk is in both. An entity that nothing mentions is gone.
    """

    generation: int
    removed: Collection[str]
    added: GraphRows
    synonyms_of: Collection[str] = field(default=frozenset())


class GraphSource(Protocol):
    """What in-memory snapshots are made of, and kept up to date with. Visible rows only."""

    async def generation(self, corpus_id: str) -> int: ...

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        """The whole graph at one generation."""
        ...

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        """What changed after generation `since`; None if that is too far back to be known."""
        ...
