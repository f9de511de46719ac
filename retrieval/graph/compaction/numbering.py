"""The numbers that chunks, entities and documents get when a snapshot and the changes over it become one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from retrieval.graph.columns import Ids, Ints
from retrieval.graph.layers.layered import LayeredSnapshot
from retrieval.graph.positions import Places, find_positions

__all__ = ["Numbering", "number_rows"]


@dataclass(frozen=True, kw_only=True)
class Numbering:
    """The rows of the result in their order, each by its number in the `LayeredSnapshot`.

    Documents of the delta that the base does not have follow those of the base, `new_documents`. `document_of` has the
    number of each document of the delta. Nodes are chunks, free places of chunks, of which there are `places` together
    in the result, and entities.
    """

    chunks: Ints
    entities: Ints
    documents: Ints
    document_of: Places
    new_documents: Ids
    places: int
    held_places: int
    joined_chunks: int
    joined_entities: int
    joined_documents: int

    @cached_property
    def chunk_to(self) -> Ints:
        """The number in the result of each chunk of the `LayeredSnapshot`, -1 for those that are not there any more."""
        return _invert(self.chunks, self.joined_chunks)

    @cached_property
    def entity_to(self) -> Ints:
        return _invert(self.entities, self.joined_entities)

    @cached_property
    def document_to(self) -> Ints:
        return _invert(self.documents, self.joined_documents)

    @cached_property
    def nodes(self) -> Ints:
        """The nodes of the result, each by its number in the `LayeredSnapshot`; -1 for free places."""
        free = np.full(self.places - len(self.chunks), -1, np.int32)
        return np.concatenate([self.chunks, free, self.entities + np.int32(self.held_places)])

    @cached_property
    def node_to(self) -> Ints:
        return _invert(self.nodes, self.held_places + self.joined_entities)


def number_rows(snapshot: LayeredSnapshot, places: int) -> Numbering:
    """Returns the numbers of a result that has `places` for chunks."""
    base, added, joined = snapshot.base.columns, snapshot.delta.added, snapshot.joined
    document_of = find_positions(base.document_ids, added.document_ids)
    document_of[np.isin(document_of, snapshot.empty_documents)] = -1
    new_documents = added.document_ids[document_of < 0]
    document_of[document_of < 0] = len(base.document_ids) + np.arange(len(new_documents))
    return Numbering(
        chunks=_merge(base.chunk_ids, snapshot.delta.removed, added.chunk_ids),
        entities=_merge(base.entity_ids, joined.gone, joined.new_ids),
        documents=_merge(base.document_ids, snapshot.empty_documents, new_documents),
        document_of=document_of,
        new_documents=new_documents,
        places=places,
        held_places=snapshot.whole.chunks,
        joined_chunks=len(base.chunk_ids) + len(added.chunk_ids),
        joined_entities=len(base.entity_ids) + len(joined.new_ids),
        joined_documents=len(base.document_ids) + len(new_documents),
    )


def _merge(held: Ids, gone: Places, added: Ids) -> Ints:
    """Returns the numbers of the ids of both in the order of the ids, without `gone` of the first.

    All ids are sorted. Those of `added` are numbered after those of `held`.
    """
    kept = np.delete(np.arange(len(held), dtype=np.int32), gone)
    at = np.searchsorted(held, added.astype(held.dtype)) if len(held) else np.zeros(len(added), np.int64)
    at = at - np.searchsorted(gone, at)
    return np.insert(kept, at, np.arange(len(held), len(held) + len(added), dtype=np.int32))


def _invert(numbers: Ints, size: int) -> Ints:
    places = np.full(size, -1, np.int32)
    there = numbers >= 0
    places[numbers[there]] = np.flatnonzero(there)
    return places
