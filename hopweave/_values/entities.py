"""Entities of a corpus' graph: found by name, with their facts, near others, and joined to others."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from hopweave._values.documents import Chunk
from hopweave._values.search import HitDocument, NodeKind, PathStep

__all__ = [
    "EdgeKind",
    "Entity",
    "EntityDetails",
    "EntityFact",
    "EntityMatch",
    "EntityMerge",
    "EntitySynonym",
    "FoundEntity",
    "Mentioning",
    "NamedEntity",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "Way",
    "Ways",
]

EntityMatch: TypeAlias = Literal["exact", "spelling", "part", "close", "similar", "any"]
"""The name; without case, diacritics and punctuation; a part of it; with a typo; by vectors; none was asked for."""

EdgeKind: TypeAlias = Literal["mention", "fact", "synonym"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """An entity, and the number of passages that mention it."""

    id: str
    name: str
    passages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundEntity:
    """`similarity` is the cosine of the vectors if `match` is `similar`; if `close`, the share of equal letters."""

    entity: Entity
    match: EntityMatch
    similarity: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityFact:
    """A fact, with the ids of the passages that assert it."""

    subject: Entity
    predicate: str
    object: Entity
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySynonym:
    """Likely another name of the same thing; `score` is the cosine of the names' vectors."""

    entity: Entity
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedEntity:
    """An entity by its id and its name."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Mentioning:
    """A passage that mentions an entity."""

    chunk: Chunk
    document: HitDocument


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityDetails:
    """An entity with its facts, those that most passages assert first; `fact_count` counts all.

    `merged` are the entities that are merged into it.
    """

    entity: Entity
    facts: tuple[EntityFact, ...]
    fact_count: int
    synonyms: tuple[EntitySynonym, ...]
    merged: tuple[NamedEntity, ...]
    passages: tuple[Mentioning, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SubgraphNode:
    """`label` is the name of an entity, or the title (else the key) of a passage's document and its heading.

    `passages` is the number of passages that mention the entity; None for a passage.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    passages: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SubgraphEdge:
    """`label` is the predicate of a fact. `chunk_id` is a passage that states the edge; empty for a synonym."""

    source: str
    target: str
    kind: EdgeKind
    label: str
    chunk_id: str
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Subgraph:
    """Nodes and edges for drawing; `truncated` if there are more nodes."""

    nodes: tuple[SubgraphNode, ...]
    edges: tuple[SubgraphEdge, ...]
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """The steps of a path between two entities."""

    steps: tuple[PathStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ways:
    """The shortest first; not `complete` if the search was cut short."""

    ways: tuple[Way, ...]
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityMerge:
    """A merge of `entity` into another entity."""

    id: str
    entity: NamedEntity
    into: NamedEntity
    merged_at: datetime
