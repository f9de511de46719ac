"""Columns from rows of the record: reading them, and bringing them into canonical order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.ports.record import GraphChunk, GraphRows
from retrieval.graph.chunk_terms import read_chunk_terms
from retrieval.graph.columns import Columns, Ids, Ints, encode_ids, keep_rows
from retrieval.graph.naming.names import pack_names

__all__ = ["build_columns", "canonicalise", "read_columns"]


def build_columns(rows: GraphRows) -> Columns:
    """Returns the columns of these rows. Entities that no mention and no fact names are left out, with their
    synonyms.
    """
    return canonicalise(read_columns(rows))


def read_columns(rows: GraphRows) -> Columns:
    """Returns the rows as columns that are not in canonical order and may hold entities that only synonyms name."""
    documents = sorted({chunk.document_id for chunk in rows.chunks})
    document_at = {id: number for number, id in enumerate(documents)}
    return Columns(
        chunk_ids=encode_ids(chunk.id for chunk in rows.chunks),
        view_ids=encode_ids(chunk.view_id for chunk in rows.chunks),
        document_ids=encode_ids(documents),
        document_of=np.array([document_at[chunk.document_id] for chunk in rows.chunks], np.int32),
        position=np.array([chunk.position for chunk in rows.chunks], np.int32),
        title_ids=_title_ids(rows.chunks),
        terms=read_chunk_terms([chunk.id for chunk in rows.chunks], [chunk.terms for chunk in rows.chunks]),
        entity_ids=rows.entity_ids,
        names=pack_names(rows.names),
        mentions=rows.mentions,
        facts=rows.facts,
        synonyms=rows.synonyms,
        scores=rows.scores,
    )


def _title_ids(chunks: Sequence[GraphChunk]) -> Ids:
    return np.array([chunk.title_names.partition(" ")[::2] for chunk in chunks], "S32").reshape(-1, 2)


def canonicalise(columns: Columns) -> Columns:
    """Returns the columns without unsupported entities, ordered and numbered by id, with each mention and
    synonym once.
    """
    supported = np.zeros(len(columns.entity_ids), np.bool_)
    supported[columns.mentions[:, 1]] = True
    supported[columns.facts[:, 1:].ravel()] = True
    linked = supported[columns.synonyms].all(axis=1)
    columns = replace(columns, synonyms=columns.synonyms[linked], scores=columns.scores[linked])
    columns = keep_rows(columns, entities=supported)
    pairs = np.sort(columns.synonyms, axis=1)
    order = np.lexsort((-columns.scores, pairs[:, 1], pairs[:, 0]))
    pairs, scores = pairs[order], columns.scores[order]
    first = _find_changes(pairs)
    return replace(
        columns,
        mentions=_sort_pairs(columns.mentions),
        facts=_sort_rows(columns.facts),
        synonyms=pairs[first],
        scores=scores[first],
    )


def _sort_pairs(table: Ints) -> Ints:
    """Returns the rows of two columns in order, each once. As single numbers they sort ten times faster."""
    keys = table[:, 0].astype(np.int64) << 32 | table[:, 1]
    keys.sort()  # not np.unique, which hashes first and is slower
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1).astype(np.int32)


def _sort_rows(table: Ints) -> Ints:
    return table[np.lexsort(table.T[::-1])]


def _find_changes(table: Ints) -> NDArray[np.bool_]:
    """Returns the mask of the rows of a sorted table that differ from the row before."""
    first = np.ones(len(table), np.bool_)
    first[1:] = (table[1:] != table[:-1]).any(axis=1)
    return first
