"""The rows of a corpus' graph as columns of numbers, sorted by id, so that equal content gives equal numbers."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges, GraphChunk, GraphRows
from retrieval.graph.lookup import positions
from retrieval.graph.terms import ChunkTerms, placed_terms, terms_of_chunks

__all__ = ["Columns", "Ids", "Ints", "Update", "columns_of", "ids_of", "positions", "updated"]

Ids = NDArray[np.bytes_]
Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Rows in canonical order; the integer columns are positions in the sorted `*_ids`.

    `position` is a chunk's in its document; `title_ids` are those of its title's and heading's names, b"" where there
    is none. `mentions` are (chunk, entity), each once; `facts` (chunk, subject, object), one row an assertion;
    `synonyms` (entity, entity), the smaller first, with `scores` beside them. `names` are the entities', normalised.
    """

    chunk_ids: Ids
    view_ids: Ids
    document_ids: Ids
    document_of: Ints
    position: Ints
    title_ids: Ids
    terms: ChunkTerms
    entity_ids: Ids
    names: NDArray[np.object_]
    mentions: Ints
    facts: Ints
    synonyms: Ints
    scores: NDArray[np.float32]


class Update(NamedTuple):
    """New columns, and the terms of the chunks that went and came on the way to them; a changed chunk's are in both."""

    columns: Columns
    removed: ChunkTerms
    added: ChunkTerms


def columns_of(rows: GraphRows) -> Columns:
    """Read rows; entities that no mention and no fact names are left out, with their synonyms."""
    return _canonical(_read(rows))


def updated(old: Columns, changes: GraphChanges) -> Update:
    """What `columns_of` makes of the changed rows, without reading the unchanged ones again."""
    new = _read(changes.added)
    gone = _among(old.chunk_ids, changes.removed)
    again = positions(old.chunk_ids, new.chunk_ids)
    gone[again[again >= 0]] = True
    unlinked = _among(old.entity_ids, changes.synonyms_of)
    linked = ~unlinked[old.synonyms].any(axis=1)
    kept = _kept(
        replace(
            old,
            mentions=old.mentions[~gone[old.mentions[:, 0]]],
            facts=old.facts[~gone[old.facts[:, 0]]],
            synonyms=old.synonyms[linked],
            scores=old.scores[linked],
        ),
        chunks=~gone,
    )
    return Update(_canonical(_joined(kept, new)), removed=old.terms.kept(gone), added=new.terms)


def ids_of(texts: Iterable[str]) -> Ids:
    """Ids as fixed-width bytes: a fifth of the memory of strings."""
    return np.array([text.encode() for text in texts] or np.zeros(0, "S32"), dtype=np.bytes_)


def _among(ids: Ids, wanted: Collection[str]) -> NDArray[np.bool_]:
    mask = np.zeros(len(ids), np.bool_)
    found = positions(ids, ids_of(wanted))
    mask[found[found >= 0]] = True
    return mask


def _read(rows: GraphRows) -> Columns:
    """The rows, not yet in canonical order, and with entities that only synonyms name."""
    documents = sorted({chunk.document_id for chunk in rows.chunks})
    document_at = {id: number for number, id in enumerate(documents)}
    names = np.empty(len(rows.names), np.object_)
    names[:] = rows.names
    return Columns(
        chunk_ids=ids_of(chunk.id for chunk in rows.chunks),
        view_ids=ids_of(chunk.view_id for chunk in rows.chunks),
        document_ids=ids_of(documents),
        document_of=np.array([document_at[chunk.document_id] for chunk in rows.chunks], np.int32),
        position=np.array([chunk.position for chunk in rows.chunks], np.int32),
        title_ids=_title_ids(rows.chunks),
        terms=terms_of_chunks([chunk.id for chunk in rows.chunks], [chunk.terms for chunk in rows.chunks]),
        entity_ids=rows.entity_ids,
        names=names,
        mentions=rows.mentions,
        facts=rows.facts,
        synonyms=rows.synonyms,
        scores=rows.scores,
    )


def _title_ids(chunks: Sequence[GraphChunk]) -> Ids:
    return np.array([chunk.title_names.partition(" ")[::2] for chunk in chunks], "S32").reshape(-1, 2)


def _canonical(columns: Columns) -> Columns:
    """Drop entities without support, order and number everything by id, each mention and synonym once."""
    supported = np.zeros(len(columns.entity_ids), np.bool_)
    supported[columns.mentions[:, 1]] = True
    supported[columns.facts[:, 1:].ravel()] = True
    linked = supported[columns.synonyms].all(axis=1)
    columns = replace(columns, synonyms=columns.synonyms[linked], scores=columns.scores[linked])
    columns = _kept(columns, entities=supported)
    pairs = np.sort(columns.synonyms, axis=1)
    order = np.lexsort((-columns.scores, pairs[:, 1], pairs[:, 0]))
    pairs, scores = pairs[order], columns.scores[order]
    first = _changes(pairs)
    return replace(
        columns,
        mentions=_pairs(columns.mentions),
        facts=_sorted(columns.facts),
        synonyms=pairs[first],
        scores=scores[first],
    )


def _pairs(table: Ints) -> Ints:
    """The rows of two in order, each once; as single numbers they sort ten times faster."""
    keys = table[:, 0].astype(np.int64) << 32 | table[:, 1]
    keys.sort()  # not np.unique, which hashes first and is slower
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1).astype(np.int32)


def _sorted(table: Ints) -> Ints:
    return table[np.lexsort(table.T[::-1])]


def _changes(table: Ints) -> NDArray[np.bool_]:
    """Rows of a sorted table that differ from the one before."""
    first = np.ones(len(table), np.bool_)
    first[1:] = (table[1:] != table[:-1]).any(axis=1)
    return first


def _kept(
    columns: Columns, *, chunks: NDArray[np.bool_] | None = None, entities: NDArray[np.bool_] | None = None
) -> Columns:
    """Without the chunks or entities that are False; no other row may name them. Documents go with their last chunk."""
    if chunks is not None and not chunks.all():
        document_of = columns.document_of[chunks]
        documents = np.zeros(len(columns.document_ids), np.bool_)
        documents[document_of] = True
        columns = replace(
            columns,
            chunk_ids=columns.chunk_ids[chunks],
            view_ids=columns.view_ids[chunks],
            document_ids=columns.document_ids[documents],
            document_of=_renumbered(documents)[document_of],
            position=columns.position[chunks],
            title_ids=columns.title_ids[chunks],
            terms=columns.terms.kept(chunks),
        )
        columns = _moved(columns, chunk=_renumbered(chunks))
    if entities is not None and not entities.all():
        columns = replace(columns, entity_ids=columns.entity_ids[entities], names=columns.names[entities])
        columns = _moved(columns, entity=_renumbered(entities))
    return columns


def _renumbered(kept: NDArray[np.bool_]) -> Ints:
    return (np.cumsum(kept) - 1).astype(np.int32)


def _moved(columns: Columns, *, chunk: Ints | None = None, entity: Ints | None = None) -> Columns:
    """With chunks and entities renumbered in every table."""
    mentions, facts = columns.mentions.copy(), columns.facts.copy()
    synonyms = columns.synonyms
    if chunk is not None:
        mentions[:, 0], facts[:, 0] = chunk[mentions[:, 0]], chunk[facts[:, 0]]
    if entity is not None:
        mentions[:, 1], facts[:, 1:] = entity[mentions[:, 1]], entity[facts[:, 1:]]
        synonyms = entity[synonyms]
    return replace(columns, mentions=mentions, facts=facts, synonyms=synonyms)


def _joined(old: Columns, new: Columns) -> Columns:
    """Rows of both under common numbers; no chunk is in both."""
    chunk_ids, old_chunk, new_chunk = _union(old.chunk_ids, new.chunk_ids)
    document_ids, old_document, new_document = _union(old.document_ids, new.document_ids)
    entity_ids, old_entity, new_entity = _union(old.entity_ids, new.entity_ids)
    old, new = _moved(old, chunk=old_chunk, entity=old_entity), _moved(new, chunk=new_chunk, entity=new_entity)
    return Columns(
        chunk_ids=chunk_ids,
        view_ids=_placed(len(chunk_ids), (old_chunk, old.view_ids), (new_chunk, new.view_ids)),
        document_ids=document_ids,
        document_of=_placed(
            len(chunk_ids),
            (old_chunk, old_document[old.document_of]),
            (new_chunk, new_document[new.document_of]),
        ),
        position=_placed(len(chunk_ids), (old_chunk, old.position), (new_chunk, new.position)),
        title_ids=_placed(len(chunk_ids), (old_chunk, old.title_ids), (new_chunk, new.title_ids)),
        terms=placed_terms(len(chunk_ids), (old_chunk, old.terms), (new_chunk, new.terms)),
        entity_ids=entity_ids,
        names=_placed(len(entity_ids), (old_entity, old.names), (new_entity, new.names)),
        mentions=np.concatenate([old.mentions, new.mentions]),
        facts=np.concatenate([old.facts, new.facts]),
        synonyms=np.concatenate([old.synonyms, new.synonyms]),
        scores=np.concatenate([old.scores, new.scores]),
    )


def _union(old: Ids, new: Ids) -> tuple[Ids, Ints, Ints]:
    """Both sorted lists of ids in one, and where the rows of each stand in it."""
    at = positions(old, new)
    fresh = at < 0
    places = np.searchsorted(old, new[fresh])
    new_at = places + np.arange(len(places))
    of_old = np.ones(len(old) + len(places), np.bool_)
    of_old[new_at] = False
    old_at = np.flatnonzero(of_old)
    merged = np.empty(len(of_old), np.result_type(old, new))
    merged[old_at], merged[new_at] = old, new[fresh]
    at[fresh], at[~fresh] = new_at, old_at[at[~fresh]]
    return merged, old_at.astype(np.int32), at.astype(np.int32)


def _placed(size: int, *parts: tuple[Ints, NDArray[Any]]) -> NDArray[Any]:
    values = [values for _, values in parts]
    out = np.empty((size, *values[0].shape[1:]), np.result_type(*values))
    for at, part in parts:
        out[at] = part
    return out
