"""Entities, facts and synonyms: what an extractor finds in a chunk, and the rows of the graph that it becomes; and how
facts fit the schema of their corpus (`core.graph_schema`).
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, kw_only=True, slots=True)
class Surface:
    """A name as it is written in a chunk, and how often it occurs there."""

    form: str
    count: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Triple:
    """An extracted statement; subject and object are forms as written."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """All that an extractor found in one chunk. `malformed` counts the triples that it skipped."""

    entities: tuple[Surface, ...] = ()
    triples: tuple[Triple, ...] = ()
    malformed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """An entity in a chunk: `name` is its normalised name, `form` the spelling in this chunk, which occurs `count`
    times.
    """

    chunk_id: str
    entity_id: str
    name: str
    form: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One chunk's assertion of one triple (ids: `core.ids.assertion_id`, `core.ids.triple_id`)."""

    id: str
    triple_id: str
    chunk_id: str
    subject_id: str
    predicate: str
    object_id: str


@dataclass(frozen=True, kw_only=True)
class Entity:
    """An entity. `name` is normalised; `display` is the most frequent form in current chunks, ties by code point."""

    id: str
    name: str
    display: str


@dataclass(frozen=True, kw_only=True)
class EntityMerge:
    """The statement that one entity is another. The names are normalised. `id` is from `core.ids.merge_id`.

    It is a user's, or `automatic`: made of a proposal above the threshold of the corpus.
    """

    id: str
    from_id: str
    from_name: str
    into_id: str
    into_name: str
    merged_at: datetime
    automatic: bool = False


@dataclass(frozen=True, kw_only=True)
class EntityRejection:
    """A user's statement that two entities are two. `first_id` < `second_id`; `id` is from `core.ids.pair_id`."""

    id: str
    first_id: str
    second_id: str
    rejected_at: datetime


@dataclass(frozen=True, kw_only=True)
class Synonym:
    """Two entities whose name vectors have a cosine (`score`) of at least the threshold; `first_id` < `second_id`."""

    first_id: str
    second_id: str
    score: float


class Fit(StrEnum):
    """How a fact fits a schema."""

    WITHIN = "within"
    """It states a relation of the schema, whose ends have types that the relation allows, or no type."""
    OUTSIDE = "outside"
    """It states a relation of the schema, and an end has a type that the relation does not allow."""
    UNNAMED = "unnamed"
    """It states no relation of the schema."""


@dataclass(frozen=True, kw_only=True)
class FitTally:
    """How many facts fit a schema in each way. It is false if there are none."""

    within: int = 0
    outside: int = 0
    unnamed: int = 0

    def __bool__(self) -> bool:
        return bool(self.within or self.outside or self.unnamed)

    def describe(self) -> str:
        facts = "fact" if self.within == 1 else "facts"
        return (
            f"{self.within:,} {facts} within the schema, {self.outside:,} outside, "
            f"{self.unnamed:,} without a relation of it"
        )
