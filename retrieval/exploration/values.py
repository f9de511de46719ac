"""The values of graph exploration: entities with their facts and passages, subgraphs, and ways between two entities.

`Scope` is the part of a corpus' graph that is explored, at one generation.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.errors import NotFound
from core.execution.threads import compute
from core.graph import Fit
from core.graph_schema import NO_SCHEMA, GraphSchema, StatedFact, read_graph_schema
from core.ports.retrieval import NodeKind, PathStep
from core.text.entity_types import FactEnd
from retrieval.backends import RetrievalBackends
from retrieval.candidates.explanations import fetch_display_names, read_facts_of
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph


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
    """An entity by its id and its display name, with the number of passages that mention it.

    `type` is what its name, its facts and the schema show it to be; None without a sure sign.
    """

    id: str
    name: str
    passages: int
    type: str | None = None


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
    """A triple with the ids of the chunks that assert it, ascending.

    `predicate` is the relation of the schema that its `phrases`, the phrases of the texts, state; without one, it is
    the phrase. `fit` is how the fact fits the schema; None without a schema.
    """

    subject: EntityRef
    predicate: str
    object: EntityRef
    chunk_ids: tuple[str, ...]
    phrases: tuple[str, ...]
    fit: Fit | None = None


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
    an entity; None for a passage. `type` is the type of an entity, None without a sure sign, and `colour` the colour
    that the schema gives the type, as `#rrggbb`.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    passages: int | None
    type: str | None = None
    colour: str | None = None


@dataclass(frozen=True, kw_only=True)
class SubgraphEdge:
    """An edge between two nodes, by their ids.

    `label` is the predicate of a fact as in `EntityFact`, else ''. `chunk_id` is a passage that states it ('' for a
    synonym).
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


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The graph that the passages of `documents` make (None: all documents of the corpus).

    Entities that no passage of these documents names are left out.
    """

    corpus: Corpus
    snapshot: GraphSnapshot
    documents: frozenset[str] | None
    backends: RetrievalBackends
    schema: GraphSchema = NO_SCHEMA

    @property
    def graph(self) -> RetrievalGraph:
        return self.snapshot.graph(self.documents)

    def is_there(self, entity: int) -> bool:
        return self.graph.has_edges(entity)

    def number_of(self, entity_id: str) -> int:
        """Returns the number of an entity, or of the entity that it is merged into.

        Raises `NotFound` if no passage of the scope names it.
        """
        (number,) = self.snapshot.entities_with([entity_id]).tolist()
        if number < 0 or not self.is_there(number):
            raise NotFound(f"there is no entity with the id {entity_id!r} in corpus {self.corpus.name!r}")
        return int(number)

    def chunks_of(self, entity: int) -> list[int]:
        """Returns the chunks of the scope that mention an entity, ascending."""
        neighbours, _ = self.graph.adjacency.neighbours(self.graph.chunks + entity)
        return [int(chunk) for chunk in neighbours[neighbours < self.graph.chunks]]

    def may_read(self, chunks: Iterable[int]) -> list[int]:
        """Returns the chunks that belong to the documents of the scope, in the given order."""
        chunks = list(chunks)
        if self.documents is None:
            return chunks
        documents = self.snapshot.document_ids(chunks)
        return [chunk for chunk, document in zip(chunks, documents, strict=True) if document in self.documents]

    async def refs_of(self, entities: Iterable[int]) -> dict[int, EntityRef]:
        """Returns entities by number, with their display names."""
        numbers = sorted(set(entities))
        names = await fetch_display_names(numbers, self.snapshot, self.corpus.id, self.backends.contents)
        ids = self.snapshot.entity_ids(numbers)
        counts = self.graph.df[np.array(numbers, np.int64)].tolist() if numbers else []
        types = await self._find_types(names, dict(zip(ids, numbers, strict=True)))
        return {
            number: EntityRef(id=id, name=names[number], passages=count, type=types[number])
            for number, id, count in zip(numbers, ids, counts, strict=True)
        }

    async def _find_types(self, names: Mapping[int, str], numbers: Mapping[str, int]) -> dict[int, str | None]:
        """Returns the types of entities from their names by number, and from facts that passages of the scope assert.

        `numbers` are the entities by id.
        """
        asserting = await compute(_choose_asserting, self, list(names))
        ids = sorted(set[str]().union(*asserting.values()))
        rows = await read_facts_of(ids, self.snapshot, self.corpus.id, self.backends.contents) if ids else []
        stated: defaultdict[int, list[StatedFact]] = defaultdict(list)
        for row in rows:
            for end, id, other in (
                (FactEnd.SUBJECT, row.subject_id, row.object),
                (FactEnd.OBJECT, row.object_id, row.subject),
            ):
                is_asked = id in numbers and row.chunk_id in asserting[numbers[id]]
                if is_asked:
                    stated[numbers[id]].append(StatedFact(end=end, phrase=row.predicate, other=other))
        return {number: self.schema.choose_type(name, stated[number]) for number, name in names.items()}


_MOST_ASSERTING = 16
"""Passages whose facts are read for the type of an entity."""


def _choose_asserting(scope: Scope, entities: list[int]) -> defaultdict[int, set[str]]:
    """Returns of each entity the ids of passages with facts about it: the first by id, as subject before object.

    They do not depend on the other entities, so an entity has the same type in every list.
    """
    rows = scope.snapshot.facts_about(np.array(entities, np.int64)) if entities else np.zeros((0, 3), np.int32)
    readable = scope.may_read(np.unique(rows[:, 0]).tolist())
    ids = dict(zip(readable, scope.snapshot.chunk_ids(readable), strict=True))
    wanted = set(entities)
    found: defaultdict[int, set[tuple[bool, str]]] = defaultdict(set)
    for chunk, subject, object_ in rows.tolist():
        for entity, is_object in ((subject, False), (object_, True)):
            if entity in wanted and chunk in ids:
                found[entity].add((is_object, ids[chunk]))
    chosen: defaultdict[int, set[str]] = defaultdict(set)
    for entity, places in found.items():
        chosen[entity] = {id for _, id in sorted(places)[:_MOST_ASSERTING]}
    return chosen


async def open_scope(backends: RetrievalBackends, corpus: Corpus, documents: frozenset[str] | None = None) -> Scope:
    """Returns the scope of these documents at the current generation (None: all documents)."""
    snapshot = await backends.snapshots.get(corpus.id)
    text = await backends.schemas.get(corpus.id) if backends.schemas else None
    schema = NO_SCHEMA if text is None else read_graph_schema(text)
    return Scope(corpus=corpus, snapshot=snapshot, documents=documents, backends=backends, schema=schema)
