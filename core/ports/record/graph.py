"""The graph as columns of ids, whole or as changes, for snapshots in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

__all__ = ["GraphChanges", "GraphChunk", "GraphRows", "GraphSource"]


class GraphChunk(NamedTuple):
    """A chunk without its text. `terms` are the bytes of its `core.terms.Terms`; `title_names` are the ids of the names
    that its title and heading are, in this order, joined by a space: at most two, and some may be no entity.
    """

    id: str
    document_id: str
    view_id: str
    position: int
    title_names: str
    terms: bytes


@dataclass(frozen=True, kw_only=True)
class GraphRows:
    """The graph's rows as columns of ids. A mention's count is the sum over its forms; facts are (chunk id, subject id,
    object id), one per assertion; synonyms (entity, entity, cosine). `entities` are (entity id, normalised name) of
    every entity that the other rows name.
    """

    chunks: Sequence[GraphChunk]
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
