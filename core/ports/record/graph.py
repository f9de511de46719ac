"""The graph as columns, whole or as changes, for snapshots in memory."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from core.ports.record.graph_rows import GraphChunk, GraphRows, GraphRowsBuilder, graph_rows

__all__ = ["GraphChanges", "GraphChunk", "GraphRows", "GraphRowsBuilder", "GraphSource", "graph_rows"]


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
