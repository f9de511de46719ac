"""Vectors as blobs in SQLite, searched exactly over a snapshot in memory that follows the changes of every process."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np

from core.errors import InvalidInput, Unavailable
from core.ports.embedding import Vectors
from core.ports.views import Scored, VectorBatch, VectorKind
from stores.exact_search import VectorSnapshot

__all__ = ["SqliteVectorStore"]

_SCHEMA = Path(__file__).with_name("vectors.sql")
_BUSY_MS = 30_000
_KEEP_REMOVALS_SECONDS = 3600.0
_READ_ROWS = 4096
_INSERT_ROWS = 1000
_FLOAT32 = np.dtype("<f4")
_ALL = "FROM collections JOIN vectors USING (collection) WHERE corpus_id = ? AND kind = ?"
_LISTED = f"{_ALL} AND id IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Collection:
    number: int
    dimension: int
    change: int
    forgotten: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """A snapshot, the collection as it was then, and the database's version up to which nothing newer is known."""

    version: int
    collection: _Collection
    snapshot: VectorSnapshot


@dataclass(slots=True)
class _View:
    lock: Lock = field(default_factory=Lock)
    seen: _Seen | None = None


class SqliteVectorStore:
    """Fills `core.ports.views.VectorStore`. Any number of processes read and write one file; vectors are unit vectors.

    Until the corpus is dropped, a collection keeps the dimension of its first vectors.
    """

    def __init__(self, path: Path, *, keep_removals_seconds: float = _KEEP_REMOVALS_SECONDS) -> None:
        self._path = path
        self._keep_removals = keep_removals_seconds
        self._write_lock = Lock()
        self._pool_lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._watch: sqlite3.Connection | None = None
        self._watch_lock = Lock()
        self._views: dict[tuple[str, VectorKind], _View] = {}

    async def write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch) -> None:
        vectors = _checked(batch)
        if len(vectors):
            await asyncio.to_thread(self._write, corpus_id, kind, batch, vectors)

    async def missing(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        def work() -> set[str]:
            with self._reading() as db:
                found = db.execute(f"SELECT id {_LISTED}", (corpus_id, kind, json.dumps(list(ids))))
                return set(ids).difference(id_ for (id_,) in found)

        return await asyncio.to_thread(work)

    async def search(
        self, corpus_id: str, kind: VectorKind, vector: Vectors, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if k < 1 or (documents is not None and not documents):
            return []

        def work() -> list[Scored]:
            seen = self._current(corpus_id, kind)
            if seen is None:
                return []
            _check_dimension(query.shape, (seen.collection.dimension,), corpus_id, kind)
            return seen.snapshot.search(query, k, documents)

        return await asyncio.to_thread(work)

    async def within(self, corpus_id: str, kind: VectorKind, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        queries = np.ascontiguousarray(vectors, dtype=np.float32)

        def work() -> list[list[Scored]]:
            seen = self._current(corpus_id, kind)
            if seen is None or not len(queries):
                return [[] for _ in queries]
            _check_dimension(queries.shape[1:], (seen.collection.dimension,), corpus_id, kind)
            return seen.snapshot.within(queries, threshold)

        return await asyncio.to_thread(work)

    async def fetch(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> Mapping[str, Vectors]:
        def work() -> dict[str, Vectors]:
            with self._reading() as db:
                found = db.execute(f"SELECT id, vector {_LISTED}", (corpus_id, kind, json.dumps(list(ids))))
                return {id_: np.frombuffer(vector, dtype=_FLOAT32) for id_, vector in found}

        return await asyncio.to_thread(work)

    async def delete(self, corpus_id: str, kind: VectorKind, ids: Sequence[str]) -> None:
        def work() -> None:
            with self._transaction() as db:
                collection = _collection(db, corpus_id, kind)
                if collection:
                    self._remove(db, collection, _next_change(db, collection), ids)

        if ids:
            await asyncio.to_thread(work)

    async def drop(self, corpus_id: str) -> None:
        def work() -> None:
            with self._transaction() as db:
                numbers = db.execute("DELETE FROM collections WHERE corpus_id = ? RETURNING collection", (corpus_id,))
                for number in numbers.fetchall():
                    db.execute("DELETE FROM vectors WHERE collection = ?", number)
                    db.execute("DELETE FROM removals WHERE collection = ?", number)

        await asyncio.to_thread(work)
        for kind in VectorKind:
            self._views.pop((corpus_id, kind), None)

    async def count(self, corpus_id: str, kind: VectorKind) -> int:
        def work() -> int:
            with self._reading() as db:
                (count,) = db.execute(f"SELECT count(*) {_ALL}", (corpus_id, kind)).fetchone()
                return int(count)

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """SQLite's version, once the file has been read."""

        def work() -> str:
            with self._reading() as db:
                db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone()
                (version,) = db.execute("SELECT sqlite_version()").fetchone()
                return f"SQLite {version}"

        return await asyncio.to_thread(work)

    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]:
        """All rows there are, sorted: for comparing the store with the record."""

        def work() -> list[str]:
            with self._reading() as db:
                return [id_ for (id_,) in db.execute(f"SELECT id {_ALL} ORDER BY id", (corpus_id, kind))]

        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """Close the connections and forget the snapshots; a later call opens them again."""
        with self._write_lock, self._watch_lock, self._pool_lock:
            for connection in [*self._idle, *([self._watch] if self._watch else [])]:
                connection.close()
            self._idle.clear()
            self._watch = None
            self._views.clear()

    def _write(self, corpus_id: str, kind: VectorKind, batch: VectorBatch, vectors: Vectors) -> None:
        last = {id_: i for i, id_ in enumerate(batch.ids)}  # an id that comes twice: its last row counts
        with self._transaction() as db:
            collection = _collection(db, corpus_id, kind) or _new_collection(db, corpus_id, kind, vectors.shape[1])
            _check_dimension(vectors.shape[1:], (collection.dimension,), corpus_id, kind)
            self._remove(db, collection, _next_change(db, collection), list(last))
            rows = [(collection.number, id_, batch.documents[i], vectors[i].tobytes()) for id_, i in last.items()]
            _insert(db, rows)

    def _remove(self, db: sqlite3.Connection, collection: _Collection, change: int, ids: Sequence[str]) -> None:
        """Delete and list what is deleted, so that snapshots can follow; old entries of the list go."""
        number, now = collection.number, time.time()
        where = "FROM vectors WHERE collection = ? AND id IN (SELECT value FROM json_each(?))"
        listed = json.dumps(list(ids))
        db.execute(f"INSERT INTO removals SELECT collection, ?, place, ? {where}", (change, now, number, listed))
        db.execute(f"DELETE {where}", (number, listed))
        oldest = db.execute(
            "SELECT at FROM removals WHERE collection = ? ORDER BY change LIMIT 1", (number,)
        ).fetchone()
        if oldest and oldest[0] < now - self._keep_removals:
            ended = (number, now - self._keep_removals)
            (upto,) = db.execute("SELECT max(change) FROM removals WHERE collection = ? AND at < ?", ended).fetchone()
            db.execute("DELETE FROM removals WHERE collection = ? AND change <= ?", (number, upto))
            db.execute("UPDATE collections SET forgotten = ? WHERE collection = ?", (upto, number))

    def _current(self, corpus_id: str, kind: VectorKind) -> _Seen | None:
        """The snapshot with all that was committed before this call; None where there is no such collection."""
        view = self._views.setdefault((corpus_id, kind), _View())
        seen = view.seen
        if seen is not None and seen.version == self._version():
            return seen
        with view.lock:
            version = self._version()
            seen = view.seen
            if seen is None or seen.version != version:
                seen = view.seen = self._refreshed(corpus_id, kind, version, seen)
        if seen is None:
            self._views.pop((corpus_id, kind), None)
        return seen

    def _refreshed(self, corpus_id: str, kind: VectorKind, version: int, seen: _Seen | None) -> _Seen | None:
        with self._reading() as db:
            collection = _collection(db, corpus_id, kind)
            if collection is None:
                return None
            if seen and seen.collection.number == collection.number and seen.collection.change >= collection.forgotten:
                removals = "SELECT place FROM removals WHERE collection = ? AND change > ?"
                gone = db.execute(removals, (collection.number, seen.collection.change)).fetchall()
                snapshot = seen.snapshot.without(np.array([place for (place,) in gone], dtype=np.int64))
            else:
                (count,) = db.execute(
                    "SELECT count(*) FROM vectors WHERE collection = ?", (collection.number,)
                ).fetchone()
                snapshot = VectorSnapshot.empty(collection.dimension, count)
            return _Seen(version=version, collection=collection, snapshot=_followed(db, collection, snapshot))

    def _version(self) -> int:
        """Changes with every commit of any other connection: the cheapest question there is (some 3 µs)."""
        with self._watch_lock, self._translated():
            if self._watch is None:
                self._watch = self._connect()
            (version,) = self._watch.execute("PRAGMA data_version").fetchone()
            return int(version)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock, self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """All statements of the block see one moment."""
        with self._connection() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._translated():
            with self._pool_lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._connect()
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                with self._pool_lock:
                    self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA page_size = 16384")  # nine vectors of 384 a page; only an empty file takes it
            _use_wal(db)
            db.execute("PRAGMA synchronous = normal")
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'removals'").fetchone():
                db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA.read_text(encoding='utf-8')}; COMMIT")
        except sqlite3.Error:
            db.close()
            raise
        return db

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            message = f"the vectors in {self._path} cannot be reached ({error}): check the disk and try again"
            raise Unavailable(message) from error
        except sqlite3.DatabaseError as error:
            message = f"the vectors in {self._path} cannot be read ({error}): run `hopweave doctor --repair`"
            raise Unavailable(message) from error


def _use_wal(db: sqlite3.Connection) -> None:
    """Turn a new file to WAL. Where several connections do so at once, SQLite fails instead of waiting."""
    deadline = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            db.execute("PRAGMA journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _collection(db: sqlite3.Connection, corpus_id: str, kind: VectorKind) -> _Collection | None:
    found = db.execute(
        "SELECT collection, dimension, change, forgotten FROM collections WHERE corpus_id = ? AND kind = ?",
        (corpus_id, kind),
    ).fetchone()
    return _Collection(number=found[0], dimension=found[1], change=found[2], forgotten=found[3]) if found else None


def _new_collection(db: sqlite3.Connection, corpus_id: str, kind: VectorKind, dimension: int) -> _Collection:
    insert = "INSERT INTO collections (corpus_id, kind, dimension) VALUES (?, ?, ?) RETURNING collection"
    (number,) = db.execute(insert, (corpus_id, kind, dimension)).fetchone()
    return _Collection(number=number, dimension=dimension, change=0, forgotten=0)


def _next_change(db: sqlite3.Connection, collection: _Collection) -> int:
    db.execute("UPDATE collections SET change = change + 1 WHERE collection = ?", (collection.number,))
    return collection.change + 1


def _insert(db: sqlite3.Connection, rows: Sequence[tuple[int, str, str, bytes]]) -> None:
    """Many rows a statement: each step gives the GIL away, and beside busy threads takes 5 ms to get it back."""
    for start in range(0, len(rows), _INSERT_ROWS):
        part = rows[start : start + _INSERT_ROWS]
        values = ", ".join(["(?, ?, ?, ?)"] * len(part))
        db.execute(
            f"INSERT INTO vectors (collection, id, document_id, vector) VALUES {values}",
            list(chain.from_iterable(part)),
        )


def _followed(db: sqlite3.Connection, collection: _Collection, snapshot: VectorSnapshot) -> VectorSnapshot:
    """The snapshot with the rows that it lacks. Places ascend, and no place is given twice, even after deletions."""
    after = int(snapshot.rows[snapshot.size - 1]) if snapshot.size else -1
    found = db.execute(
        "SELECT place, id, document_id, vector FROM vectors WHERE collection = ? AND place > ? ORDER BY place",
        (collection.number, after),
    )
    while rows := found.fetchmany(_READ_ROWS):
        places, ids, documents, blobs = zip(*rows, strict=True)
        vectors = np.frombuffer(b"".join(blobs), dtype=_FLOAT32).reshape(len(rows), collection.dimension)
        snapshot = snapshot.extended(places, ids, documents, vectors)
    return snapshot


def _checked(batch: VectorBatch) -> Vectors:
    """The batch's vectors as rows of float32; raises `InvalidInput` where they cannot be what their ids say."""
    vectors = np.ascontiguousarray(batch.vectors, dtype=_FLOAT32)
    if not len(batch.ids) == len(batch.documents) == len(vectors):
        sizes = f"{len(batch.ids)} ids, {len(batch.documents)} documents and {len(vectors)} vectors"
        raise InvalidInput(f"a vector batch has {sizes}: give as many of each")
    if len(vectors) and vectors.ndim != 2:
        raise InvalidInput(f"vectors have shape {vectors.shape}: give one row of numbers per id")
    if not np.isfinite(vectors).all():
        raise InvalidInput("a vector holds a number that is not finite: the embedding model is at fault, not the store")
    return vectors


def _check_dimension(given: tuple[int, ...], there: tuple[int], corpus_id: str, kind: VectorKind) -> None:
    if given != there:
        shape = "×".join(map(str, given))
        raise InvalidInput(
            f"a vector of dimension {shape} does not fit the {kind} vectors of corpus {corpus_id}, which have "
            f"{there[0]}: use the embedding model that the corpus was built with, or reindex it"
        )
