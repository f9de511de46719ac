"""Entities with their facts, the graph between them, and who is who: merges, proposals and rejections."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from hopweave.wire.base import doc
from hopweave.wire.documents import Chunk
from hopweave.wire.search import HitDocument, NodeKind, PathStep

__all__ = [
    "EdgeKind",
    "Entity",
    "EntityDetails",
    "EntityFact",
    "EntityList",
    "EntityMatch",
    "EntityMerge",
    "EntityProposal",
    "EntityProposals",
    "EntityRejection",
    "EntityRejectionList",
    "EntitySynonym",
    "EntityType",
    "Evidence",
    "Fit",
    "FoundEntity",
    "GraphSchema",
    "Mentioning",
    "MergeList",
    "NamedEntity",
    "PhraseCount",
    "Resolution",
    "SchemaCheck",
    "SchemaRelation",
    "SchemaType",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "Way",
    "Ways",
]

EntityType: TypeAlias = str
"""`person`, `organisation`, `place`, `work`, `date`, `amount`, `law`, `product`, `other`, or a type of the corpus'
schema.
"""
Fit: TypeAlias = Literal["within", "outside", "unnamed"]
EntityMatch: TypeAlias = Literal["exact", "spelling", "part", "close", "similar", "any"]
"""The name; without case, diacritics and punctuation; a part of it; with a typo; by vectors; none was asked for."""

EdgeKind: TypeAlias = Literal["mention", "fact", "synonym"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """`passages` is the number of passages that mention the entity."""

    id: str
    name: str
    passages: int
    type: EntityType | None = field(
        metadata=doc("What its name, its facts and the schema show it to be; null without a sure sign.")
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundEntity:
    """`similarity` is the cosine of the vectors if `match` is `similar`; if `close`, the share of equal letters."""

    entity: Entity
    match: EntityMatch = field(
        metadata=doc(
            "`exact`: the name; `spelling`: without case, diacritics and punctuation; `part`: a part of the "
            "name; `close`: a close spelling, for typos, if no name holds it; `similar`: by the likeness of the names' "
            "vectors; `any`: no name was asked for."
        )
    )
    similarity: float | None = field(
        metadata=doc(
            "The cosine of the names' vectors, if `match` is `similar`; of a `close` one, the share of equal letters."
        )
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityFact:
    """`chunk_ids` are the passages that assert the fact."""

    subject: Entity
    predicate: str = field(metadata=doc("The relation of the schema that the phrases state; without one, the phrase."))
    object: Entity
    chunk_ids: tuple[str, ...]
    phrases: tuple[str, ...] = field(metadata=doc("The phrases of the texts."))
    fit: Fit | None = field(
        metadata=doc(
            "`within` the schema of the corpus; `outside`: the relation does not allow the type of an end; `unnamed`: "
            "no relation of the schema. Null without a schema."
        )
    )


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
    """`fact_count` counts all facts of the entity; `facts` are those that most passages assert."""

    entity: Entity
    facts: tuple[EntityFact, ...]
    fact_count: int
    synonyms: tuple[EntitySynonym, ...]
    merged: tuple[NamedEntity, ...] = field(metadata=doc("The entities that are merged into it."))
    passages: tuple[Mentioning, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SubgraphNode:
    """`label` is the name of an entity, or the title of a passage's document.

    `passages` is the number of passages that mention the entity; null for a passage.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    passages: int | None
    type: EntityType | None = field(
        metadata=doc("What an entity's name and facts show it to be; null without a sure sign, and for a passage.")
    )
    colour: str | None = field(metadata=doc("The colour that the schema gives the type, as `#rrggbb`; else null."))


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
    """Nodes and edges for drawing. `truncated`: there are more nodes at this depth."""

    nodes: tuple[SubgraphNode, ...]
    edges: tuple[SubgraphEdge, ...]
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """The steps of a path between two entities."""

    steps: tuple[PathStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ways:
    """The shortest ways first. `complete` is false if the search was cut short, so that there may be others."""

    ways: tuple[Way, ...]
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityMerge:
    """`entity` is merged into `into`; `automatic` if nobody asked for it, by the threshold of the corpus."""

    id: str
    entity: NamedEntity
    into: NamedEntity
    merged_at: datetime
    automatic: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A feature of a pair. `effect` is by how much it raises the log-odds; below 0 it speaks against the pair."""

    feature: str
    explanation: str
    value: float
    effect: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityProposal:
    """Two entities that may be one. Merging `entity` into `into` accepts the proposal."""

    id: str
    entity: Entity
    into: Entity
    probability: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityProposals:
    """The most probable first. `complete` is false if the corpus has more entities or pairs than are compared."""

    data: tuple[EntityProposal, ...]
    complete: bool
    next_cursor: None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRejection:
    """`entity` and `other` are two, and are not proposed as one."""

    id: str
    entity: NamedEntity
    other: NamedEntity
    rejected_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """How a corpus decides who is who."""

    merge_above: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityList:
    """The best matches first; there are no further pages."""

    data: tuple[FoundEntity, ...]
    next_cursor: None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MergeList:
    """Merges of a corpus, the newest first."""

    data: tuple[EntityMerge, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityRejectionList:
    """All rejected pairs of a corpus, at most 10,000, the newest first."""

    data: tuple[EntityRejection, ...]
    next_cursor: None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaType:
    """A type of entities. `colour` is `#rrggbb`, or empty."""

    name: str
    description: str
    colour: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaRelation:
    """A relation from entities of the types `subjects` to entities of the types `objects`; none: any type."""

    name: str
    description: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PhraseCount:
    """A phrase of texts that states no relation of the schema, and how many facts have it."""

    phrase: str
    facts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaCheck:
    """How many facts are within the schema, outside it, and state no relation of it.

    `examples` are the first that are outside, and `phrases` the most frequent ones without a relation. `complete` is
    false if the corpus has more passages with facts than are compared.
    """

    within: int
    outside: int
    unnamed: int
    examples: tuple[EntityFact, ...]
    phrases: tuple[PhraseCount, ...]
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphSchema:
    """The schema of a corpus' graph. `text` is the `schema.toml` that states it."""

    text: str
    strict: bool = field(metadata=doc("Facts outside the schema are left out when a document is indexed."))
    types: tuple[SchemaType, ...]
    relations: tuple[SchemaRelation, ...]
    check: SchemaCheck | None = field(metadata=doc("How the facts fit the schema; null if they were not compared."))
