"""Changes of the record applied to columns without reading unchanged rows again. Open it when updates go wrong."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChanges
from retrieval.graph.chunk_terms import ChunkTerms, merge_terms
from retrieval.graph.column_building import canonicalise, read_columns
from retrieval.graph.columns import Columns, Ids, Ints, encode_ids, keep_rows, renumber
from retrieval.graph.naming.names import merge_names
from retrieval.graph.positions import find_positions

__all__ = ["ColumnUpdate", "join_columns", "update_columns"]


class ColumnUpdate(NamedTuple):
    """New columns, and the terms of the chunks that were removed and added. A changed chunk's terms are in both."""

    columns: Columns
    removed: ChunkTerms
    added: ChunkTerms


def update_columns(old: Columns, changes: GraphChanges) -> ColumnUpdate:
    """Returns what `build_columns` would make of the changed rows, without reading the unchanged rows again."""
    return join_columns(
        old,
        read_columns(changes.added),
        removed=encode_ids(changes.removed),
        unlinked=encode_ids(changes.synonyms_of),
    )


def join_columns(old: Columns, new: Columns, *, removed: Ids, unlinked: Ids) -> ColumnUpdate:
    """Returns the old columns without some chunks, and without the synonyms of some entities, with the new columns.

    Chunks that are in both have the rows of `new`.
    """
    gone = _mask_of(old.chunk_ids, removed)
    again = find_positions(old.chunk_ids, new.chunk_ids)
    gone[again[again >= 0]] = True
    unlinked_mask = _mask_of(old.entity_ids, unlinked)
    linked = ~unlinked_mask[old.synonyms].any(axis=1)
    kept = keep_rows(
        replace(
            old,
            mentions=old.mentions[~gone[old.mentions[:, 0]]],
            facts=old.facts[~gone[old.facts[:, 0]]],
            synonyms=old.synonyms[linked],
            scores=old.scores[linked],
        ),
        chunks=~gone,
    )
    return ColumnUpdate(canonicalise(_join(kept, new)), removed=old.terms.select(gone), added=new.terms)


def _mask_of(ids: Ids, wanted: Ids) -> NDArray[np.bool_]:
    """Returns the mask of those of `ids` that are wanted; unknown ids are ignored."""
    mask = np.zeros(len(ids), np.bool_)
    found = find_positions(ids, wanted)
    mask[found[found >= 0]] = True
    return mask


def _join(old: Columns, new: Columns) -> Columns:
    """Returns the rows of both under common numbers; no chunk is in both."""
    chunk_ids, old_chunk, new_chunk = _union(old.chunk_ids, new.chunk_ids)
    document_ids, old_document, new_document = _union(old.document_ids, new.document_ids)
    entity_ids, old_entity, new_entity = _union(old.entity_ids, new.entity_ids)
    old, new = renumber(old, chunk=old_chunk, entity=old_entity), renumber(new, chunk=new_chunk, entity=new_entity)
    return Columns(
        chunk_ids=chunk_ids,
        view_ids=_place(len(chunk_ids), (old_chunk, old.view_ids), (new_chunk, new.view_ids)),
        document_ids=document_ids,
        document_of=_place(
            len(chunk_ids),
            (old_chunk, old_document[old.document_of]),
            (new_chunk, new_document[new.document_of]),
        ),
        position=_place(len(chunk_ids), (old_chunk, old.position), (new_chunk, new.position)),
        title_ids=_place(len(chunk_ids), (old_chunk, old.title_ids), (new_chunk, new.title_ids)),
        terms=merge_terms(len(chunk_ids), (old_chunk, old.terms), (new_chunk, new.terms)),
        entity_ids=entity_ids,
        names=merge_names(len(entity_ids), (old_entity, old.names), (new_entity, new.names)),
        mentions=np.concatenate([old.mentions, new.mentions]),
        facts=np.concatenate([old.facts, new.facts]),
        synonyms=np.concatenate([old.synonyms, new.synonyms]),
        scores=np.concatenate([old.scores, new.scores]),
    )


def _union(old: Ids, new: Ids) -> tuple[Ids, Ints, Ints]:
    """Returns the union of two sorted lists of ids, and the positions of each list's rows in it."""
    at = find_positions(old, new)
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


def _place(size: int, *parts: tuple[Ints, NDArray[Any]]) -> NDArray[Any]:
    """Returns an array of `size` rows in which each part's values are at the given positions."""
    values = [values for _, values in parts]
    out = np.empty((size, *values[0].shape[1:]), np.result_type(*values))
    for at, part in parts:
        out[at] = part
    return out
