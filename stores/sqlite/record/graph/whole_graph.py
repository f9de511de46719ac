"""All rows of a corpus' graph, read by their numbers: a million passages have ten million of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ports.record.graph import GraphChunk, GraphRows
from stores.sqlite.compression import unpack_terms
from stores.sqlite.database import Connection, Cursor

__all__ = ["read_whole_graph"]

_CHUNKS = """
    SELECT c.number, lower(hex(c.id)), lower(hex(d.id)), lower(hex(c.view_id)), c.position, unpack_ids(c.title_names),
        c.terms
    FROM corpus_numbers k CROSS JOIN chunk_rows c ON c.corpus = k.number CROSS JOIN document_rows d
        ON d.number = c.document
    WHERE k.id = ? AND d.hidden = 0 AND d.disabled = 0
"""
_ENTITIES = """
    SELECT e.id, e.number, e.name FROM corpus_numbers k CROSS JOIN entity_rows e ON e.corpus = k.number WHERE k.id = ?
"""
_MENTIONS = """
    SELECT m.chunk, f.entity FROM corpus_numbers k
    CROSS JOIN chunk_rows c ON c.corpus = k.number
    CROSS JOIN mention_rows m ON m.chunk = c.number
    CROSS JOIN form_rows f ON f.number = m.form
    WHERE k.id = ?
"""
_FACTS = """
    SELECT f.chunk, f.subject, f.object FROM corpus_numbers k
    CROSS JOIN chunk_rows c ON c.corpus = k.number
    CROSS JOIN fact_rows f ON f.chunk = c.number
    WHERE k.id = ?
"""
_SYNONYMS = "SELECT from_hex(first_id), from_hex(second_id), score FROM synonyms WHERE corpus_id = ?"

_ID = "S16"
Ints = NDArray[np.int32]


def read_whole_graph(cx: Connection, corpus_id: str) -> GraphRows:
    """Returns the rows that readers see, without merges. Rows of hidden and disabled documents are left out."""
    numbered = [
        (row[0], GraphChunk._make((*row[1:6], unpack_terms(row[6])))) for row in _select(cx, _CHUNKS, corpus_id)
    ]
    numbered.sort(key=lambda one: one[1].id)
    entities = sorted(_select(cx, _ENTITIES, corpus_id))
    ids = np.array([row[0] for row in entities], _ID)
    chunk_at = _Places(np.array([number for number, _ in numbered], np.int64))
    entity_at = _Places(np.array([row[1] for row in entities], np.int64))

    found = _read(cx, _MENTIONS, corpus_id, chunk=np.int64, entity=np.int64)
    mentions = _table(chunk_at.of(found["chunk"]), entity_at.of(found["entity"]))
    found = _read(cx, _FACTS, corpus_id, chunk=np.int64, subject=_ID, object=_ID)
    by_id = _Places(ids)
    facts = _table(chunk_at.of(found["chunk"]), by_id.of(found["subject"]), by_id.of(found["object"]))
    found = _read(cx, _SYNONYMS, corpus_id, first=_ID, second=_ID, score=np.float32)
    pairs = np.stack([by_id.of(found["first"]), by_id.of(found["second"])], axis=1)
    linked = (pairs >= 0).all(axis=1)

    named = np.zeros(len(entities), np.bool_)
    for column in (mentions[:, 1], facts[:, 1:].ravel(), pairs[linked].ravel()):
        named[column] = True
    to = np.cumsum(named) - 1
    return GraphRows(
        chunks=[chunk for _, chunk in numbered],
        entity_ids=np.array([row[0].hex() for row, kept in zip(entities, named, strict=True) if kept], "S32"),
        names=[row[2] for row, kept in zip(entities, named, strict=True) if kept],
        mentions=_each_once(np.stack([mentions[:, 0], to[mentions[:, 1]]], axis=1)),
        facts=np.stack([facts[:, 0], to[facts[:, 1]], to[facts[:, 2]]], axis=1).astype(np.int32),
        synonyms=to[pairs[linked]].astype(np.int32),
        scores=found["score"][linked],
    )


class _Places:
    """Where each of some different values stands in their array."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._order = np.argsort(values, kind="stable")
        self._sorted = values[self._order]

    def of(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the place of each wanted value; -1 for one that is not there."""
        if not len(self._sorted):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.where(self._sorted[at] == wanted, self._order[at], -1)


def _read(cx: Connection, query: str, corpus_id: str, **columns: Any) -> NDArray[Any]:
    """Returns rows as an array of structures."""
    return np.fromiter(_select(cx, query, corpus_id), np.dtype(list(columns.items())))


def _select(cx: Connection, query: str, corpus_id: str) -> Cursor:
    cursor = cx.cursor()
    cursor.row_factory = None  # plain tuples: there may be millions
    return cursor.execute(query, (corpus_id,))


def _table(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the rows all of whose places are known."""
    table = np.stack(columns, axis=1)
    return table[(table >= 0).all(axis=1)]


def _each_once(pairs: NDArray[np.int64]) -> Ints:
    keys = np.unique(pairs[:, 0] << 32 | pairs[:, 1])
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1).astype(np.int32)
