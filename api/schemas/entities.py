"""The responses of the routes of entities: found entities, one with its facts, a subgraph, and ways between two."""

from datetime import datetime
from typing import Any

from pydantic import Field

from api.schemas.base import In, Out, Text
from api.schemas.documents import ChunkOut
from core.text.entity_types import EntityType
from retrieval.exploration import EdgeKind, Match, NodeKind

__all__ = [
    "EntityDetailsOut",
    "EntityListOut",
    "EntityMergeOut",
    "EntityProposalsOut",
    "EntityRejectionListOut",
    "EntityRejectionOut",
    "MergeIn",
    "MergeListOut",
    "RejectionIn",
    "ResolutionIn",
    "ResolutionOut",
    "SubgraphOut",
    "WaysOut",
]


class PathStepOut(Out):
    """One edge of the path through the graph: `source` —`relation`→ `target`, as the chunk `chunk_id` states.

    A passage is named by the title (else the key) of its document, and its heading.
    """

    source: str
    relation: str
    target: str
    chunk_id: str
    source_kind: NodeKind
    target_kind: NodeKind


class HitDocumentOut(Out):
    id: str
    key: str
    title: str
    metadata: dict[str, Any]


class EntityOut(Out):
    """`passages` is the number of passages that mention the entity."""

    id: str
    name: str
    passages: int
    type: EntityType | None = Field(description="What its name and its facts show it to be; null without a sure sign.")


class FoundEntityOut(Out):
    entity: EntityOut
    match: Match = Field(
        description="`exact`: the name; `spelling`: without case, diacritics and punctuation; `part`: a part of the "
        "name; `close`: a close spelling, for typos, if no name holds it; `similar`: by the likeness of the names' "
        "vectors; `any`: no name was asked for."
    )
    similarity: float | None = Field(
        description="The cosine of the names' vectors, if `match` is `similar`; of a `close` one, the share of equal "
        "letters."
    )


class EntityListOut(Out):
    """The best matches first; there are no further pages."""

    data: list[FoundEntityOut]
    next_cursor: None = None


class EntityFactOut(Out):
    """`chunk_ids` are the passages that assert the fact."""

    subject: EntityOut
    predicate: str
    object: EntityOut
    chunk_ids: list[str]


class EntitySynonymOut(Out):
    entity: EntityOut
    score: float


class NamedEntityOut(Out):
    id: str
    name: str


class MentioningOut(Out):
    chunk: ChunkOut
    document: HitDocumentOut


class EntityDetailsOut(Out):
    """`fact_count` counts all facts of the entity; `facts` are those that most passages assert."""

    entity: EntityOut
    facts: list[EntityFactOut]
    fact_count: int
    synonyms: list[EntitySynonymOut]
    merged: list[NamedEntityOut] = Field(description="The entities that are merged into it.")
    passages: list[MentioningOut]


class SubgraphNodeOut(Out):
    """`label` is the name of an entity, or the title of a passage's document.

    `passages` is the number of passages that mention the entity; null for a passage.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    passages: int | None


class SubgraphEdgeOut(Out):
    """`label` is the predicate of a fact. `chunk_id` is a passage that states the edge; empty for a synonym."""

    source: str
    target: str
    kind: EdgeKind
    label: str
    chunk_id: str
    weight: float


class SubgraphOut(Out):
    """Nodes and edges for drawing. `truncated`: there are more nodes at this depth."""

    nodes: list[SubgraphNodeOut]
    edges: list[SubgraphEdgeOut]
    truncated: bool


class WayOut(Out):
    steps: list[PathStepOut]


class WaysOut(Out):
    """The shortest ways first. `complete` is false if the search was cut short, so that there may be others."""

    ways: list[WayOut]
    complete: bool


class MergeIn(In):
    into: Text = Field(description="The id of the entity that this one is.", max_length=64)


class EntityMergeOut(Out):
    """`entity` is merged into `into`; `automatic` if nobody asked for it, by the threshold of the corpus."""

    id: str
    entity: NamedEntityOut
    into: NamedEntityOut
    merged_at: datetime
    automatic: bool


class MergeListOut(Out):
    """Merges of a corpus, the newest first."""

    data: list[EntityMergeOut]
    next_cursor: str | None


class EvidenceOut(Out):
    """A feature of a pair. `effect` is by how much it raises the log-odds; below 0 it speaks against the pair."""

    feature: str
    explanation: str
    value: float
    effect: float


class EntityProposalOut(Out):
    """Two entities that may be one. Merging `entity` into `into` accepts the proposal."""

    id: str
    entity: EntityOut
    into: EntityOut
    probability: float
    evidence: list[EvidenceOut]


class EntityProposalsOut(Out):
    """The most probable first. `complete` is false if the corpus has more entities or pairs than are compared."""

    data: list[EntityProposalOut]
    complete: bool
    next_cursor: None = None


class RejectionIn(In):
    entity: Text = Field(description="The id of an entity.", max_length=64)
    other: Text = Field(description="The id of the entity that it is not.", max_length=64)


class EntityRejectionOut(Out):
    """`entity` and `other` are two, and are not proposed as one."""

    id: str
    entity: NamedEntityOut
    other: NamedEntityOut
    rejected_at: datetime


class EntityRejectionListOut(Out):
    """All rejected pairs of a corpus, at most 10,000, the newest first."""

    data: list[EntityRejectionOut]
    next_cursor: None = None


class ResolutionIn(In):
    merge_above: float | None = Field(
        description="Proposals of at least this probability are merged without being asked for; null: never.",
        ge=0.5,
        le=1,
    )


class ResolutionOut(Out):
    """How a corpus decides who is who."""

    merge_above: float | None
