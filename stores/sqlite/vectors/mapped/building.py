"""Writes the file of a base, from the base before it and from the rows of the store."""

import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import Unavailable
from core.ports.embedding import Vectors
from stores.sqlite.vectors.mapped.base import MappedSnapshot, sum_rows
from stores.sqlite.vectors.mapped.base_file import ArrayForm, BaseWriter, Header
from stores.sqlite.vectors.mapped.signs import BLOCK, count_words, encode_signs, lay_out
from stores.sqlite.vectors.rows import Collection, count_rows, read_after, read_sample

_SAMPLED = 4096
"""The number of vectors whose mean decides the signs."""

_NAMES_OF_A_ROW = 100
"""The approximate bytes of a row's ids in the file."""


class BuildStopped(Unavailable):
    """The store is being closed."""

    def __init__(self) -> None:
        super().__init__("the store of vectors is being closed: try again")


@dataclass(frozen=True, kw_only=True)
class _Rows:
    places: NDArray[np.int64]
    ids: NDArray[np.bytes_]
    documents: NDArray[np.bytes_]
    vectors: Vectors


def write_base(
    db: sqlite3.Connection,
    path: Path,
    key: tuple[str, str],
    collection: Collection,
    last: MappedSnapshot | None,
    stop: threading.Event,
) -> None:
    """Writes all rows of a collection at `path`. `key` are its corpus and kind.

    Rows of the `last` base are copied from its file, without deleted rows; all others are read from the store in the
    transaction of `db`. Holds ids, and some thousand vectors at a time. Raises `BuildStopped`, and `OSError`; then the
    file is left unfinished.
    """
    after = -1 if last is None else last.base.header.last_place
    count = (0 if last is None else _count_alive(last)) + count_rows(db, collection, after=after)
    dimension, words = collection.dimension, count_words(collection.dimension)
    sample = read_sample(db, collection, _SAMPLED)
    mean: Vectors = sample.sum(axis=0, dtype=np.float32) / np.float32(max(1, len(sample)))
    writer = BaseWriter(path)
    try:
        writer.add("mean", ArrayForm(type="<f4", shape=(dimension,)))
        writer.add("places", ArrayForm(type="<i8", shape=(count,)))
        writer.add("sums", ArrayForm(type="<u4", shape=(count,)))
        writer.add("codes", ArrayForm(type="<u8", shape=(-(-count // BLOCK), words, BLOCK)))
        writer.add("matrix", ArrayForm(type="<f4", shape=(count, dimension), checked=False))
        writer.check_room(_NAMES_OF_A_ROW * count)
        writer.write("mean", mean)
        ids, documents, codes = [], [], _CodeBlocks(writer, words)
        last_place = after
        for rows in _read_rows(db, collection, last, after):
            if stop.is_set():
                raise BuildStopped
            writer.write("places", rows.places)
            writer.write("sums", sum_rows(rows.vectors))
            writer.write("matrix", rows.vectors)
            codes.write(encode_signs(rows.vectors, mean))
            ids.append(rows.ids)
            documents.append(rows.documents)
            last_place = max(last_place, int(rows.places[-1]))
        codes.finish()
        _write_names(writer, ids, documents)
        corpus_id, kind = key
        header = Header(
            corpus_id=corpus_id,
            kind=kind,
            collection=collection.number,
            change=collection.change,
            last_place=last_place,
            rows=count,
            dimension=dimension,
        )
        writer.finish(header)
    finally:
        writer.close()


class _CodeBlocks:
    """Collects codes until they fill a block."""

    def __init__(self, writer: BaseWriter, words: int) -> None:
        self._writer = writer
        self._rest = np.empty((0, words), dtype=np.uint64)

    def write(self, codes: NDArray[np.uint64]) -> None:
        self._rest = np.concatenate([self._rest, codes])
        while len(self._rest) >= BLOCK:
            self._writer.write("codes", lay_out(self._rest[:BLOCK]))
            self._rest = self._rest[BLOCK:]

    def finish(self) -> None:
        if len(self._rest):
            self._writer.write("codes", lay_out(self._rest))


def _write_names(writer: BaseWriter, ids: list[NDArray[np.bytes_]], documents: list[NDArray[np.bytes_]]) -> None:
    """Writes the ids of rows, the sorted ids of documents, and the position of each row's document in these."""
    names = np.concatenate(ids) if ids else np.empty(0, "S1")
    unique, owners = np.unique(np.concatenate(documents) if documents else np.empty(0, "S1"), return_inverse=True)
    for name, array in (("ids", names), ("documents", unique), ("owners", owners.astype(np.int32))):
        writer.add(name, ArrayForm(type=array.dtype.str, shape=array.shape))
        writer.write(name, array)


def _count_alive(last: MappedSnapshot) -> int:
    return len(last.base) if last.alive is None else int(np.count_nonzero(last.alive))


def _read_rows(
    db: sqlite3.Connection, collection: Collection, last: MappedSnapshot | None, after: int
) -> Iterator[_Rows]:
    """Yields the rows of the collection by ascending place, some thousand at a time."""
    if last is not None:
        base = last.base
        for start in range(0, len(base), BLOCK):
            rows = np.arange(start, min(start + BLOCK, len(base)))
            rows = rows if last.alive is None else rows[last.alive[rows]]
            if rows.size:
                vectors = base.read_rows(rows)
                documents = base.documents[base.owners[rows]]
                yield _Rows(places=base.places[rows], ids=base.ids[rows], documents=documents, vectors=vectors)
    for places, ids, owners, vectors in read_after(db, collection, after):
        yield _Rows(
            places=np.array(places, dtype=np.int64),
            ids=np.array([id_.encode() for id_ in ids], dtype=np.bytes_),
            documents=np.array([document.encode() for document in owners], dtype=np.bytes_),
            vectors=vectors,
        )
