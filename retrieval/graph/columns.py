"""The value that snapshots are made of: a corpus' graph as columns of numbers. Open it to see the columns' meaning.

Rows are sorted by id and numbered in that order, so that equal content gives equal numbers.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.chunk_terms import ChunkTerms
from retrieval.graph.naming.names import Names
from retrieval.graph.positions import find_positions

__all__ = ["Columns", "Ids", "Ints", "encode_ids", "keep_rows", "renumber"]

Ids = NDArray[np.bytes_]

Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The rows of a corpus' graph in canonical order. Integer columns are positions in the sorted `*_ids`.

    `position` is the position of a chunk in its document. `title_ids` (chunks, 2) are the ids of the entities that its
    title and heading name; b"" where there is none. `mentions` are (chunk, entity), each once. `facts` are (chunk,
    subject, object), one row for each assertion. `synonyms` are (entity, entity) with the smaller first, and `scores`
    are their cosines. `names` are the entities' normalised names.
    """

    chunk_ids: Ids
    view_ids: Ids
    document_ids: Ids
    document_of: Ints
    position: Ints
    title_ids: Ids
    terms: ChunkTerms
    entity_ids: Ids
    names: Names
    mentions: Ints
    facts: Ints
    synonyms: Ints
    scores: NDArray[np.float32]

    def chunks_of(self, documents: Collection[str]) -> NDArray[np.bool_]:
        """Returns the mask of the chunks of these documents."""
        found = find_positions(self.document_ids, encode_ids(documents))
        kept = np.zeros(len(self.document_ids), np.bool_)
        kept[found[found >= 0]] = True
        return kept[self.document_of]

    def named_by(self, chunks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns the mask of the entities that these chunks mention, or of which they assert facts."""
        named = np.zeros(len(self.entity_ids), np.bool_)
        named[self.mentions[chunks[self.mentions[:, 0]], 1]] = True
        named[self.facts[chunks[self.facts[:, 0]], 1:].ravel()] = True
        return named


def encode_ids(texts: Iterable[str]) -> Ids:
    """Returns ids as fixed-width bytes, which take a fifth of the memory of strings."""
    return np.array([text.encode() for text in texts] or np.zeros(0, "S32"), dtype=np.bytes_)


def keep_rows(
    columns: Columns, *, chunks: NDArray[np.bool_] | None = None, entities: NDArray[np.bool_] | None = None
) -> Columns:
    """Returns the columns without the chunks or entities whose mask is False; no other row may name them.

    A document is left out with its last chunk.
    """
    if chunks is not None and not chunks.all():
        document_of = columns.document_of[chunks]
        documents = np.zeros(len(columns.document_ids), np.bool_)
        documents[document_of] = True
        columns = replace(
            columns,
            chunk_ids=columns.chunk_ids[chunks],
            view_ids=columns.view_ids[chunks],
            document_ids=columns.document_ids[documents],
            document_of=_number_kept(documents)[document_of],
            position=columns.position[chunks],
            title_ids=columns.title_ids[chunks],
            terms=columns.terms.select(chunks),
        )
        columns = renumber(columns, chunk=_number_kept(chunks))
    if entities is not None and not entities.all():
        columns = replace(columns, entity_ids=columns.entity_ids[entities], names=columns.names.select(entities))
        columns = renumber(columns, entity=_number_kept(entities))
    return columns


def _number_kept(kept: NDArray[np.bool_]) -> Ints:
    return (np.cumsum(kept) - 1).astype(np.int32)


def renumber(columns: Columns, *, chunk: Ints | None = None, entity: Ints | None = None) -> Columns:
    """Returns the columns with chunks and entities renumbered in every table."""
    mentions, facts = columns.mentions.copy(), columns.facts.copy()
    synonyms = columns.synonyms
    if chunk is not None:
        mentions[:, 0], facts[:, 0] = chunk[mentions[:, 0]], chunk[facts[:, 0]]
    if entity is not None:
        mentions[:, 1], facts[:, 1:] = entity[mentions[:, 1]], entity[facts[:, 1:]]
        synonyms = entity[synonyms]
    return replace(columns, mentions=mentions, facts=facts, synonyms=synonyms)
