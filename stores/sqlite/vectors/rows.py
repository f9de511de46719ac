"""Rows of collections and vectors, and the list of deletions that snapshots follow."""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from core.ports.views import VectorKind

__all__ = [
    "FLOAT32",
    "Collection",
    "VectorRow",
    "count_rows",
    "create_collection",
    "delete_collections",
    "delete_vectors",
    "insert_vectors",
    "list_collections",
    "next_change",
    "read_after",
    "read_collection",
    "read_deleted_places",
    "read_ids_at",
    "read_last_place",
    "read_oldest_removal",
    "read_places",
    "read_sample",
]

FLOAT32 = np.dtype("<f4")

_READ_ROWS = 4096
_INSERT_ROWS = 1000

VectorRow = tuple[int, str, str, bytes]
"""Collection, id, document id, vector."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Collection:
    """The vectors of one kind of a corpus. `number` is never given twice.

    `change` counts the transactions that changed the collection. Deletions up to the change `forgotten` are no longer
    listed.
    """

    number: int
    dimension: int
    change: int
    forgotten: int


def read_collection(db: sqlite3.Connection, corpus_id: str, kind: VectorKind) -> Collection | None:
    found = db.execute(
        "SELECT collection, dimension, change, forgotten FROM collections WHERE corpus_id = ? AND kind = ?",
        (corpus_id, kind),
    ).fetchone()
    return Collection(number=found[0], dimension=found[1], change=found[2], forgotten=found[3]) if found else None


def create_collection(db: sqlite3.Connection, corpus_id: str, kind: VectorKind, dimension: int) -> Collection:
    insert = "INSERT INTO collections (corpus_id, kind, dimension) VALUES (?, ?, ?) RETURNING collection"
    (number,) = db.execute(insert, (corpus_id, kind, dimension)).fetchone()
    return Collection(number=number, dimension=dimension, change=0, forgotten=0)


def delete_collections(db: sqlite3.Connection, corpus_id: str) -> list[int]:
    """Deletes all collections of a corpus with their vectors. Returns their numbers."""
    deleted = db.execute("DELETE FROM collections WHERE corpus_id = ? RETURNING collection", (corpus_id,)).fetchall()
    for number in deleted:
        db.execute("DELETE FROM vectors WHERE collection = ?", number)
        db.execute("DELETE FROM removals WHERE collection = ?", number)
    return [number for (number,) in deleted]


def next_change(db: sqlite3.Connection, collection: Collection) -> int:
    """Counts a transaction that changes the collection, and returns its number."""
    db.execute("UPDATE collections SET change = change + 1 WHERE collection = ?", (collection.number,))
    return collection.change + 1


def insert_vectors(db: sqlite3.Connection, rows: Sequence[VectorRow]) -> None:
    """Inserts many rows with each statement. A statement releases the GIL, and beside busy threads takes 5 ms to get it
    back.
    """
    for start in range(0, len(rows), _INSERT_ROWS):
        part = rows[start : start + _INSERT_ROWS]
        values = ", ".join(["(?, ?, ?, ?)"] * len(part))
        db.execute(
            f"INSERT INTO vectors (collection, id, document_id, vector) VALUES {values}",
            list(chain.from_iterable(part)),
        )


def delete_vectors(
    db: sqlite3.Connection, collection: Collection, change: int, ids: Sequence[str], *, listed_seconds: float
) -> None:
    """Deletes vectors, and lists their places under `change` so that snapshots can follow.

    Deletes the entries of the list that are older than `listed_seconds`.
    """
    number, now = collection.number, time.time()
    where, among = "FROM vectors WHERE collection = ? AND id IN (SELECT value FROM json_each(?))", json.dumps(list(ids))
    db.execute(f"INSERT INTO removals SELECT collection, ?, place, ? {where}", (change, now, number, among))
    db.execute(f"DELETE {where}", (number, among))
    oldest = db.execute("SELECT at FROM removals WHERE collection = ? ORDER BY change LIMIT 1", (number,)).fetchone()
    if oldest and oldest[0] < now - listed_seconds:
        ended = (number, now - listed_seconds)
        (upto,) = db.execute("SELECT max(change) FROM removals WHERE collection = ? AND at < ?", ended).fetchone()
        db.execute("DELETE FROM removals WHERE collection = ? AND change <= ?", (number, upto))
        db.execute("UPDATE collections SET forgotten = ? WHERE collection = ?", (upto, number))


def read_deleted_places(db: sqlite3.Connection, collection: Collection, since: int) -> list[int]:
    """Returns the places of vectors that were deleted after the change `since`."""
    rows = db.execute("SELECT place FROM removals WHERE collection = ? AND change > ?", (collection.number, since))
    return [place for (place,) in rows]


def count_rows(db: sqlite3.Connection, collection: Collection, *, after: int = -1) -> int:
    """Returns the number of rows beyond a place. Reads an index only."""
    count = "SELECT count(*) FROM vectors WHERE collection = ? AND place > ?"
    (number,) = db.execute(count, (collection.number, after)).fetchone()
    return int(number)


def read_after(
    db: sqlite3.Connection, collection: Collection, place: int
) -> Iterator[tuple[Sequence[int], Sequence[str], Sequence[str], Vectors]]:
    """Yields the rows beyond a place, some thousand at a time: places, ids, document ids, vectors.

    Places ascend with time, and no place is given twice, even after deletions.
    """
    found = db.execute(
        "SELECT place, id, document_id, vector FROM vectors WHERE collection = ? AND place > ? ORDER BY place",
        (collection.number, place),
    )
    while rows := found.fetchmany(_READ_ROWS):
        places, ids, documents, blobs = zip(*rows, strict=True)
        vectors = np.frombuffer(b"".join(blobs), dtype=FLOAT32).reshape(len(rows), collection.dimension)
        yield places, ids, documents, vectors


def read_last_place(db: sqlite3.Connection) -> int:
    """Returns the greatest place that any row ever had; 0 if there was none."""
    found = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'").fetchone()
    return int(found[0]) if found else 0


def read_places(db: sqlite3.Connection, collection: Collection, after: int = -1) -> NDArray[np.int64]:
    """Returns the places of all rows beyond a place, ascending. Reads an index only."""
    found = db.execute(
        "SELECT place FROM vectors WHERE collection = ? AND place > ? ORDER BY place", (collection.number, after)
    )
    return np.fromiter((place for (place,) in found), dtype=np.int64)


def read_sample(db: sqlite3.Connection, collection: Collection, count: int) -> Vectors:
    """Returns up to `count` vectors, spread evenly over the collection."""
    places = read_places(db, collection)
    chosen = places[:: -(-len(places) // count)] if len(places) else places
    found = db.execute(
        "SELECT vector FROM vectors WHERE place IN (SELECT value FROM json_each(?))", (json.dumps(chosen.tolist()),)
    )
    joined = b"".join(vector for (vector,) in found)
    return np.frombuffer(joined, dtype=FLOAT32).reshape(-1, collection.dimension)


def read_ids_at(db: sqlite3.Connection, collection: Collection, places: Sequence[int]) -> dict[int, str]:
    """Returns the ids of the rows with these places, by place. Leaves out places without a row."""
    found = db.execute(
        "SELECT place, id FROM vectors WHERE collection = ? AND place IN (SELECT value FROM json_each(?))",
        (collection.number, json.dumps(list(places))),
    )
    return dict(found.fetchall())


def list_collections(db: sqlite3.Connection) -> list[tuple[str, VectorKind, Collection]]:
    """Returns all collections, each with its corpus and kind."""
    found = db.execute("SELECT corpus_id, kind, collection, dimension, change, forgotten FROM collections")
    return [
        (
            corpus_id,
            VectorKind(kind),
            Collection(number=number, dimension=dimension, change=change, forgotten=forgotten),
        )
        for corpus_id, kind, number, dimension, change, forgotten in found
    ]


def read_oldest_removal(db: sqlite3.Connection, collection: Collection, since: int, upto: int) -> float | None:
    """Returns when the first of the rows up to the place `upto` was deleted after the change `since`, or None."""
    (at,) = db.execute(
        "SELECT min(at) FROM removals WHERE collection = ? AND change > ? AND place <= ?",
        (collection.number, since, upto),
    ).fetchone()
    return None if at is None else float(at)
