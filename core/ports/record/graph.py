"""The ports of the graph: as columns, from which snapshots in memory are built, and what owners decide on it: merges of
its entities, rejected pairs, and the schema.

The columns come first: numbers that are built from rows of ids with little memory.
"""

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.graph import EntityMerge, EntityRejection

Ints = NDArray[np.int32]

_BATCH = 10_000


class GraphChunk(NamedTuple):
    """A chunk without its text.

    `terms` are the bytes of its `core.text.terms.Terms`. `title_names` are the ids of the names in its title and its
    heading, in this order, joined by a space: at most two, which need not be entities.
    """

    id: str
    document_id: str
    view_id: str
    position: int
    title_names: str
    terms: bytes


class GraphMerge(NamedTuple):
    """The merge of an entity into another, with their normalised names. Neither need be among the rows."""

    from_id: str
    from_name: str
    into_id: str
    into_name: str


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphRows:
    """Chunks and the entities that the other rows name, both in the order of their ids.

    `entity_ids` are fixed-width bytes, `names` the normalised names beside them. The integer columns are positions in
    these: `mentions` (chunk, entity), each once; `facts` (chunk, subject, object), one row an assertion; `synonyms`
    (entity, entity), with their cosines in `scores`. None of them is merged: `merges` are all merges of the corpus.
    """

    chunks: Sequence[GraphChunk]
    entity_ids: NDArray[np.bytes_]
    names: Sequence[str]
    mentions: Ints
    facts: Ints
    synonyms: Ints
    scores: NDArray[np.float32]
    merges: tuple[GraphMerge, ...] = ()


class GraphRowsBuilder:
    """Takes rows in any order, by the positions that `add_chunk` and `add_entity` return. A number takes four bytes."""

    def __init__(self) -> None:
        self.chunk_at: dict[str, int] = {}
        self.entity_at: dict[str, int] = {}
        self._chunks: list[GraphChunk] = []
        self._names: list[str] = []
        self._mentions = array("i")
        self._facts = array("i")
        self._synonyms = array("i")
        self._scores = array("f")

    def add_chunk(self, row: GraphChunk) -> int:
        self.chunk_at[row.id] = len(self._chunks)
        self._chunks.append(row)
        return len(self._chunks) - 1

    def add_entity(self, id: str, name: str) -> int:
        """Returns the position of the entity, which may be added already."""
        at = self.entity_at.setdefault(id, len(self._names))
        if at == len(self._names):
            self._names.append(name)
        return at

    def add_mention(self, chunk: int, entity: int) -> None:
        self._mentions.extend((chunk, entity))

    def add_fact(self, chunk: int, subject: int, object: int) -> None:
        self._facts.extend((chunk, subject, object))

    def add_synonym(self, first: int, second: int, score: float) -> None:
        self._synonyms.extend((first, second))
        self._scores.append(score)

    def delete(self, chunks: Collection[str], synonyms_of: Collection[str]) -> None:
        """Deletes chunks with their rows, and all synonyms of entities, so that they can be added again."""
        for id in chunks:
            self.chunk_at.pop(id, None)
        unlinked = np.zeros(len(self._names), np.bool_)
        unlinked[[self.entity_at[id] for id in synonyms_of if id in self.entity_at]] = True
        pairs = _table(self._synonyms, 2)
        linked = ~unlinked[pairs].any(axis=1)
        scores = np.frombuffer(self._scores, np.float32)[linked]
        self._synonyms, self._scores = array("i", pairs[linked].tobytes()), array("f", scores.tobytes())

    def build(self) -> GraphRows:
        """Returns the rows. The last row of a chunk counts. Entities that nothing names are left out."""
        mentions, facts = _table(self._mentions, 2), _table(self._facts, 3)
        synonyms = _table(self._synonyms, 2)
        chunks = np.array([at for _, at in sorted(self.chunk_at.items())], np.int32)
        chunk_to = _renumbering(len(self._chunks), chunks)
        mentions, facts = mentions[chunk_to[mentions[:, 0]] >= 0], facts[chunk_to[facts[:, 0]] >= 0]
        named = np.zeros(len(self._names), np.bool_)
        for entities in (mentions[:, 1], facts[:, 1:].ravel(), synonyms.ravel()):
            named[entities] = True
        ids = sorted(compress(self.entity_at, named.tolist()))  # the dict is in the order of positions
        entities = np.array([self.entity_at[id] for id in ids], np.int32)
        to = _renumbering(len(self._names), entities)
        return GraphRows(
            chunks=[self._chunks[at] for at in chunks.tolist()],
            entity_ids=np.array([id.encode() for id in ids] or np.zeros(0, "S32"), np.bytes_),
            names=[self._names[at] for at in entities.tolist()],
            mentions=np.stack([chunk_to[mentions[:, 0]], to[mentions[:, 1]]], axis=1),
            facts=np.stack([chunk_to[facts[:, 0]], to[facts[:, 1]], to[facts[:, 2]]], axis=1),
            synonyms=to[synonyms],
            scores=np.array(self._scores, np.float32),
        )


def graph_rows(
    *,
    chunks: Iterable[GraphChunk] = (),
    entities: Iterable[tuple[str, str]] = (),
    mentions: Iterable[tuple[str, str]] = (),
    facts: Iterable[tuple[str, str, str]] = (),
    synonyms: Iterable[tuple[str, str, float]] = (),
) -> GraphRows:
    """Builds rows from rows of ids, which are read once and in this order. Entities are (id, normalised name).

    Rows that name a chunk or an entity that is not given are left out.
    """
    builder = GraphRowsBuilder()
    for chunk in chunks:
        builder.add_chunk(chunk)
    for id, name in entities:
        builder.add_entity(id, name)
    chunk_at, entity_at = builder.chunk_at, builder.entity_at
    for chunk_id, entity in mentions:
        if chunk_id in chunk_at and entity in entity_at:
            builder.add_mention(chunk_at[chunk_id], entity_at[entity])
    for chunk_id, subject, object_ in facts:
        if chunk_id in chunk_at and subject in entity_at and object_ in entity_at:
            builder.add_fact(chunk_at[chunk_id], entity_at[subject], entity_at[object_])
    for first, second, score in synonyms:
        if first in entity_at and second in entity_at:
            builder.add_synonym(entity_at[first], entity_at[second], score)
    return builder.build()


def _table(values: "array[int]", width: int) -> Ints:
    return np.frombuffer(values, np.int32).reshape(-1, width)


def _renumbering(size: int, chosen: Ints) -> Ints:
    """Returns the place of each of `size` old positions among the chosen positions; -1 if it is not chosen."""
    to = np.full(size, -1, np.int32)
    to[chosen] = np.arange(len(chosen))
    return to


@dataclass(frozen=True, kw_only=True)
class GraphChanges:
    """The difference between a generation and a later generation.

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
    with their documents, and counts again when they come back; an automatic one is deleted with either of them. Each
    write raises the generation.
    """

    async def merge(self, corpus_id: str, from_id: str, into_id: str, *, automatic: bool = False) -> EntityMerge:
        """Merges one entity into another.

        Raises `NotFound` for an entity that no passage mentions, `InvalidInput` if both ids are the same, and
        `Conflict` if the first is merged already, if both are one entity by other merges, if there are too many, or if
        an automatic merge would make one of the two entities of a rejected pair, also through other merges.
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

        Leaves out merges that contradict the merges of this corpus, or are too many, and returns them.
        """
        ...


class EntityResolution(Protocol):
    """What a corpus keeps for proposals of entities that may be one: rejected pairs, and the threshold for merging.

    Proposals themselves are computed when they are read, and stored nowhere. No write raises the generation.
    """

    async def reject(self, corpus_id: str, first_id: str, second_id: str) -> EntityRejection:
        """Keeps that two entities are two, and returns the rejection, which may be there already.

        Raises `NotFound` for an entity that no passage mentions, and `Conflict` if both ids are the same, or if there
        are too many rejections.
        """
        ...

    async def withdraw(self, corpus_id: str, rejection_id: str) -> EntityRejection:
        """Deletes a rejection, and returns it. Raises `NotFound`."""
        ...

    async def list(self, corpus_id: str) -> Sequence[EntityRejection]:
        """Returns all rejections, the newest first."""
        ...

    async def adopt(self, corpus_id: str, pairs: Sequence[tuple[str, str]]) -> int:
        """Keeps rejected pairs of another corpus, as two ids in ascending order each, whose entities need not be there.

        Returns how many were left out since there are too many rejections.
        """
        ...

    async def get_threshold(self, corpus_id: str) -> float | None:
        """Returns the probability from which proposals are merged without being asked for; None: never."""
        ...

    async def set_threshold(self, corpus_id: str, threshold: float | None) -> None: ...


class GraphSchemas(Protocol):
    """The schemas that owners give corpora, as the text of a `schema.toml` (`core.graph_schema`), which the caller has
    checked. No write raises the generation: a schema changes no row. A shadow corpus begins with the schema of its
    corpus, and has the newest one when it takes its name.
    """

    async def get(self, corpus_id: str) -> str | None:
        """Returns the text; None for a corpus without a schema. Raises `NotFound` for an unknown corpus."""
        ...

    async def set(self, corpus_id: str, text: str | None) -> None:
        """Keeps the text in place of an earlier one; None deletes it. Raises `NotFound` for an unknown corpus."""
        ...
