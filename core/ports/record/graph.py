"""The port of the graph as columns, whole or as changes, from which snapshots in memory are built."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from core.ports.record.graph_rows import GraphChunk, GraphRows, GraphRowsBuilder, graph_rows

__all__ = ["GraphChanges", "GraphChunk", "GraphRows", "GraphRowsBuilder", "GraphSource", "graph_rows"]


@dataclass(frozen=True, kw_only=True)
class GraphChanges:
    """The difference between one generation and a later one.

    To apply it, delete the `removed` chunks with their rows and all synonyms of the entities `synonyms_of`, then add
    `added`. A changed chunk is in both. An entity that nothing mentions is deleted.
    """

    generation: int
    removed: Collection[str]
    added: GraphRows
    synonyms_of: Collection[str] = field(default=frozenset())


class GraphSource(Protocol):
    """The rows that readers see, for building snapshots and keeping them up to date."""

    async def generation(self, corpus_id: str) -> int: ...

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        """Returns the generation and the whole graph at that generation."""
        ...

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        """Returns what changed after the generation `since`; None if the change log does not reach back so far."""
        ...
