"""The values of graph exploration: entities with their facts and passages, subgraphs, and ways between two entities."""

from dataclasses import dataclass
from enum import StrEnum

from core.documents import Chunk, DocumentRef
from core.ports.retrieval import NodeKind, PathStep

__all__ = [
    "EdgeKind",
    "EntityDetails",
    "EntityFact",
    "EntityRef",
    "EntitySynonym",
    "FoundEntity",
    "Match",
    "Mentioning",
    "MergedEntity",
    "NodeKind",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "Way",
    "Ways",
]


class Match(StrEnum):
    """How a name was found, best first. `any`: no name was asked for."""

    EXACT = "exact"
    SPELLING = "spelling"
    PART = "part"
    CLOSE = "close"
    SIMILAR = "similar"
    ANY = "any"


class EdgeKind(StrEnum):
    MENTION = "mention"
    FACT = "fact"
    SYNONYM = "synonym"


@dataclass(frozen=True, kw_only=True)
class EntityRef:
    """An entity by its id and its display name, with the number of passages that mention it."""

    id: str
    name: str
    passages: int


@dataclass(frozen=True, kw_only=True)
class FoundEntity:
    """An entity that was found.

    `similarity` is the cosine of the names' vectors, or of a close spelling the share of equal letters; else None.
    """

    entity: EntityRef
    match: Match
    similarity: float | None = None


@dataclass(frozen=True, kw_only=True)
class EntityFact:
    """A triple with the ids of the chunks that assert it, ascending."""

    subject: EntityRef
    predicate: str
    object: EntityRef
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EntitySynonym:
    """An entity whose name is likely another name of the same thing, with the cosine of their vectors."""

    entity: EntityRef
    score: float


@dataclass(frozen=True, kw_only=True)
class MergedEntity:
    """An entity that is merged into another entity, with its name in its own passages."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Mentioning:
    """A passage that mentions an entity."""

    chunk: Chunk
    document: DocumentRef


@dataclass(frozen=True, kw_only=True)
class EntityDetails:
    """An entity with what the corpus says of it. `fact_count` is the number of all its triples; `facts` are the first.

    `merged` are the entities that are merged into it, directly or not, in the order of their ids.
    The number of all passages is in `entity`; `passages` are the first.
    """

    entity: EntityRef
    facts: tuple[EntityFact, ...]
    fact_count: int
    synonyms: tuple[EntitySynonym, ...]
    merged: tuple[MergedEntity, ...]
    passages: tuple[Mentioning, ...]


@dataclass(frozen=True, kw_only=True)
class SubgraphNode:
    """A node for drawing. `label` is an entity's name, or of a passage the title (else the key) of its document and
    its heading.

    `distance` is the number of edges from the entity in the middle. `passages` is the number of passages that mention
    an entity; None for a passage.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    passages: int | None


@dataclass(frozen=True, kw_only=True)
class SubgraphEdge:
    """An edge between two nodes, by their ids.

    `label` is the predicate of a fact, else ''. `chunk_id` is a passage that states it ('' for a synonym).
    """

    source: str
    target: str
    kind: EdgeKind
    label: str
    chunk_id: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class Subgraph:
    """The nodes near an entity, the nearest and most strongly linked first; `truncated` if there are more."""

    nodes: tuple[SubgraphNode, ...]
    edges: tuple[SubgraphEdge, ...]
    truncated: bool


@dataclass(frozen=True, kw_only=True)
class Way:
    """A path between two entities; each step names what it joins and the passage that states it."""

    steps: tuple[PathStep, ...]


@dataclass(frozen=True, kw_only=True)
class Ways:
    """The shortest ways between two entities, the shortest first.

    `complete` is False if the search met more nodes than it looks at, so that there may be others.
    """

    ways: tuple[Way, ...]
    complete: bool
