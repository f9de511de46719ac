"""The ports of the graph: as columns, from which snapshots in memory are built, and the merges of its entities."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.graph import EntityMerge
from core.ports.record.graph_rows import (
    GraphChunk,
    GraphMerge,
    GraphRows,
    GraphRowsBuilder,
    graph_rows,
)

__all__ = [
    "EntityMerges",
    "GraphChanges",
    "GraphChunk",
    "GraphMerge",
    "GraphRows",
    "GraphRowsBuilder",
    "GraphSource",
    "graph_rows",
]


@dataclass(frozen=True, kw_only=True)
class GraphChanges:
    """The difference between one generation and a later one.

    To apply it, delete the `removed` chunks with their rows and all synonyms of the entities `synonyms_of`, then add
    `added`. A changed chunk is in both. An entity that nothing mentions is deleted. `added.merges` are all
    merges of the corpus.
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

    async def count_changes(self, corpus_id: str, since: int) -> int:
        """Returns how often chunks changed after the generation `since`, as far as the change log reaches back."""
        ...


class EntityMerges(Protocol):
    """Merges of entities. They change no other row: whoever reads the graph takes the two entities for one.

    An entity is merged into at most one other, which may be merged in turn. A merge stays when its entities disappear
    with their documents, and counts again when they come back. Each write raises the generation.
    """

    async def merge(self, corpus_id: str, from_id: str, into_id: str) -> EntityMerge:
        """Merges one entity into another.

        Raises `NotFound` for an entity that no passage mentions, `InvalidInput` if both ids are the same, and
        `Conflict` if the first is merged already, if both are one entity by other merges, or if there are too many.
        """
        ...

    async def undo(self, corpus_id: str, merge_id: str) -> EntityMerge:
        """Deletes a merge, in whatever order they were made, and returns it. Raises `NotFound`."""
        ...

    async def list(self, corpus_id: str) -> Sequence[EntityMerge]:
        """Returns all merges, the newest first."""
        ...

    async def adopt(self, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
        """Writes merges of another corpus, whose entities need not be there.

        Returns those that contradict the merges of this corpus, or are too many; they are left out.
        """
        ...
