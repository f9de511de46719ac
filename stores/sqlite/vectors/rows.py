"""The file of vectors: its connections, and the rows of collections and vectors.

`ConnectionPool` has transactions for any thread, and the version that changes with each commit. The functions after it
read and write rows, and the list of deletions that snapshots follow.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from core.errors import Unavailable
from core.ports.embedding import Vectors
from core.ports.views import VectorKind
from stores.sqlite.connection import connect, empty_log, is_damage, run_script

_SCHEMA = Path(__file__).with_name("vectors.sql")
_PAGE_SIZE = 16384  # nine vectors of 384 numbers a page
_TRIES = 20
_REMEDY = "end Hopweave, delete the file, and run `hopweave doctor --repair`"
_PAUSE_SECONDS = 0.05


class ConnectionPool:
    """Opens connections as they are needed, and keeps them until `close`; a later call opens them again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._write_lock = Lock()
        self._pool_lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._watch_lock = Lock()
        self._watch: sqlite3.Connection | None = None
        self._log_is_full = True
        """Also of a file that is opened: a process that was killed may have left the log so."""

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction. An exception rolls back."""
        with self._write_lock, self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
            if self._log_is_full:
                self._log_is_full = not empty_log(db)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction: all its statements see one state."""
        with self._connection() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    def version(self) -> int:
        """Returns a number that changes with every commit of another connection. Takes some 3 µs."""
        with self._watch_lock, self._translate_errors():
            if self._watch is None:
                self._watch = self._connect()
            (version,) = self._watch.execute("PRAGMA data_version").fetchone()
            return int(version)

    def empty_log(self) -> None:
        """Empties SQLite's log (WAL), which has the vectors that were deleted.

        While others read it tries again for a second. Then it leaves it to the next write.
        """
        for _ in range(_TRIES):
            with self._write_lock, self._connection() as db:
                self._log_is_full = not empty_log(db)
            if not self._log_is_full:
                return
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        """Closes the connections that are not in a transaction of another thread."""
        with self._write_lock, self._watch_lock, self._pool_lock:
            for connection in [*self._idle, *([self._watch] if self._watch else [])]:
                connection.close()
            self._idle.clear()
            self._watch = None

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._translate_errors():
            with self._pool_lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._open()
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                with self._pool_lock:
                    self._idle.append(connection)

    def _open(self) -> sqlite3.Connection:
        connection = self._connect()
        if self._log_is_full:
            with suppress(sqlite3.OperationalError):  # a disk that is full or read-only can still be searched
                self._log_is_full = not empty_log(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        return connect(self._path, _create_tables, page_size=_PAGE_SIZE)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # in a message of SQLite on a damaged file
            raise Unavailable(f"the vectors in {self._path} are damaged: {_REMEDY}") from error
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                raise Unavailable(f"the vectors in {self._path} are damaged ({error}): {_REMEDY}") from error
            message = f"the vectors in {self._path} cannot be reached ({error}): check the disk and try again"
            raise Unavailable(message) from error


def _create_tables(db: sqlite3.Connection) -> None:
    """Creates the tables of a new file. Looks first, for creating takes the write lock."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'removals'").fetchone():
        run_script(db, _SCHEMA)


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


def read_places(db: sqlite3.Connection, collection: Collection) -> NDArray[np.int64]:
    """Returns the places of all rows, ascending. Reads an index only."""
    found = db.execute("SELECT place FROM vectors WHERE collection = ? ORDER BY place", (collection.number,))
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
