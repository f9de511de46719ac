"""A base: the vectors of a collection that are in a file, mapped, and searched by a first pass and exact rescoring.

`MappedSnapshot` is a snapshot over a base: the rows of the file, which of them were deleted, and what was written
since. `measure_recall` says how many of the nearest vectors the first pass finds, measured on vectors of the collection
itself.
"""

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.execution.array_files import UnreadableFile
from core.execution.files import FileMapping
from core.execution.recent import Recent
from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.exact_search import GATHER, MARGIN, VectorSnapshot, score_exactly, select_leading
from stores.sqlite.vectors.mapped.base_file import Header, open_arrays
from stores.sqlite.vectors.mapped.signs import BLOCK, Codes, count_words, find_candidates

CANDIDATES = 2_000
"""So many rows, or `_CANDIDATES_OF_A_RESULT` for each result, are compared exactly after the first pass."""

_CANDIDATES_OF_A_RESULT = 10

_CELLS = 16_000_000
"""How many scores `within` computes at once: 64 MB."""

_FILTERS = 4

Alive = NDArray[np.bool_] | None
"""Which rows are not deleted; None: all."""


class DamagedRows(Exception):
    """Rows of the file at this path are not as they were written."""

    def __init__(self, path: Path, identity: tuple[int, int]) -> None:
        super().__init__(str(path))
        self.path = path
        self.identity = identity


class ChangedFile(DamagedRows):
    """Another program wrote to the file since it was opened. Opening it again tells whether it can be used."""


@dataclass(frozen=True, kw_only=True)
class VectorBase:
    """The arrays of a file. The arrays do not change; a search is told which rows were deleted since.

    Each method that reads the arrays raises `ChangedFile` if the file was written to since: pages beyond the end of a
    file that became shorter must not be read (`FileMapping`).

    The matrix is too large to compare its checksum at each start. Each row that becomes a result is compared with its
    sum instead, and `DamagedRows` raised if it differs.
    """

    path: Path
    identity: tuple[int, int]
    """The device and number of the file: another file by the same name has another number."""
    header: Header
    mapping: FileMapping
    mean: Vectors
    codes: Codes
    matrix: Vectors
    sums: NDArray[np.uint32]
    places: NDArray[np.int64]
    """The number of each row in the store, ascending."""
    owners: NDArray[np.int32]
    """The document of each row, as its position in `documents`."""
    ids: NDArray[np.bytes_]
    documents: NDArray[np.bytes_]
    """Ascending."""
    _chosen: Recent[frozenset[str], NDArray[np.bool_]] = field(
        default_factory=lambda: Recent(_FILTERS), init=False, repr=False
    )
    """Which rows are of the documents of the last filters."""

    @classmethod
    def open(cls, path: Path) -> "VectorBase":
        """Raises `UnreadableFile` and `OSError`."""
        status = path.stat()
        header, mapping, arrays = open_arrays(path)
        try:
            base = cls(path=path, identity=(status.st_dev, status.st_ino), header=header, mapping=mapping, **arrays)
        except TypeError as error:
            raise UnreadableFile(f"is damaged ({error})") from error
        base._check_arrays()
        return base

    def __len__(self) -> int:
        return self.header.rows

    def search(self, query: Vectors, k: int, documents: Collection[str] | None, alive: Alive) -> list[Scored]:
        """Returns the `k` best by dot product, ties by id, of all documents or of these.

        It is exact if a filter leaves few rows; otherwise it misses rows that the first pass leaves out.
        """
        self._check_file()
        allowed = alive if documents is None else self._select_rows(documents, alive)
        count = max(CANDIDATES, _CANDIDATES_OF_A_RESULT * k)
        if documents is not None and allowed is not None and np.count_nonzero(allowed) <= max(GATHER, count):
            places = np.flatnonzero(allowed)
        else:
            places = find_candidates(self.codes, len(self), self.mean, query, count, allowed)
        return self._rank(places, query, k)

    def within(self, vectors: Vectors, threshold: float, alive: Alive) -> list[list[Scored]]:
        """Returns for each vector all rows with a dot product of at least `threshold`, best first, ties by id."""
        self._check_file()
        near: list[list[NDArray[np.intp]]] = [[] for _ in vectors]
        at_once = max(1, _CELLS // max(1, len(vectors)))
        for start in range(0, len(self), at_once):
            part = slice(start, start + at_once)
            found = vectors @ self.matrix[part].T >= threshold - MARGIN
            if alive is not None:
                found &= alive[part]
            for number, row in enumerate(found):
                near[number].append(np.flatnonzero(row) + start)
        return [
            self._select_above(vector, np.concatenate(places) if places else np.empty(0, np.intp), threshold)
            for vector, places in zip(vectors, near, strict=True)
        ]

    def find_rows(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        """Returns the positions of the rows with these places, of which some may be unknown."""
        self._check_file()
        at = np.searchsorted(self.places, places)
        inside = at < len(self)
        found: NDArray[np.intp] = at[inside][self.places[at[inside]] == places[inside]]
        return found

    def read_places(self) -> NDArray[np.int64]:
        self._check_file()
        return self.places

    def read_rows(self, rows: NDArray[np.intp]) -> Vectors:
        """Returns the vectors of rows. Raises `DamagedRows` if a row is not as it was written."""
        self._check_file()
        vectors: Vectors = self.matrix[rows]
        if not np.array_equal(sum_rows(vectors), self.sums[rows]):
            raise DamagedRows(self.path, self.identity)
        return vectors

    def read_ids(self, rows: NDArray[np.intp]) -> list[str]:
        return [id_.decode() for id_ in self.ids[rows].tolist()]

    def _check_file(self) -> None:
        if not self.mapping.is_intact():
            raise ChangedFile(self.path, self.identity)

    def _check_arrays(self) -> None:
        """Raises `UnreadableFile` unless the arrays fit to each other: compiled code does not check its indices."""
        rows, dimension = self.header.rows, self.header.dimension
        forms: dict[str, tuple[Any, tuple[int, ...]]] = {
            "mean": ("<f4", (dimension,)),
            "codes": ("<u8", (-(-rows // BLOCK), count_words(dimension), BLOCK)),
            "matrix": ("<f4", (rows, dimension)),
            "sums": ("<u4", (rows,)),
            "places": ("<i8", (rows,)),
            "owners": ("<i4", (rows,)),
            "ids": (self.ids.dtype, (rows,)),
            "documents": (self.documents.dtype, (len(self.documents),)),
        }
        for name, (type, shape) in forms.items():
            array: NDArray[Any] = getattr(self, name)
            if array.dtype != np.dtype(type) or array.shape != shape:
                raise UnreadableFile(f"is damaged: the array {name!r} does not fit to the others")
        if self.ids.dtype.kind != "S" or self.documents.dtype.kind != "S":
            raise UnreadableFile("is damaged: the ids are no text")
        if rows and not 0 <= int(self.owners.min()) <= int(self.owners.max()) < len(self.documents):
            raise UnreadableFile("is damaged: a row is of no document")

    def _rank(self, rows: NDArray[np.intp], query: Vectors, k: int) -> list[Scored]:
        vectors = self.read_rows(rows)
        leading = select_leading(vectors @ query, k)
        exact = score_exactly(vectors[leading], query)
        ranked = heapq.nsmallest(k, zip((-exact).tolist(), self.read_ids(rows[leading]), strict=True))
        return [Scored(id=id_, score=-score) for score, id_ in ranked]

    def _select_above(self, vector: Vectors, rows: NDArray[np.intp], threshold: float) -> list[Scored]:
        exact = score_exactly(self.read_rows(rows), vector).tolist()
        pairs = zip(exact, self.read_ids(rows), strict=True)
        return [Scored(id=i, score=-s) for s, i in sorted((-score, id_) for score, id_ in pairs if score >= threshold)]

    def _select_rows(self, documents: Collection[str], alive: Alive) -> NDArray[np.bool_]:
        key = frozenset(documents)  # the same object, if it is a frozenset
        chosen = self._chosen.get(key)
        if chosen is None:
            chosen = self._chosen.put(key, self._find_rows_of(key))
        return chosen if alive is None else chosen & alive

    def _find_rows_of(self, documents: Collection[str]) -> NDArray[np.bool_]:
        wanted = np.zeros(len(self.documents), dtype=np.bool_)
        if wanted.size and documents:
            names = np.array([document.encode() for document in documents], dtype=np.bytes_)
            at = np.minimum(np.searchsorted(self.documents, names), wanted.size - 1)
            wanted[at[self.documents[at] == names]] = True
        chosen: NDArray[np.bool_] = wanted[self.owners]
        return chosen


def sum_rows(vectors: Vectors) -> NDArray[np.uint32]:
    """Returns a checksum for each row. Damage to any single number of the row changes it."""
    sums: NDArray[np.uint32] = np.ascontiguousarray(vectors).view(np.uint32).sum(axis=1, dtype=np.uint32)
    return sums


@dataclass(frozen=True, kw_only=True)
class MappedSnapshot:
    """The vectors of one collection at one moment. Later snapshots share its arrays, as with `VectorSnapshot`.

    `own` has the rows beyond the base, in the memory of this process.
    """

    base: VectorBase
    alive: Alive
    own: VectorSnapshot

    @classmethod
    def over(cls, base: VectorBase) -> "MappedSnapshot":
        return cls(base=base, alive=None, own=VectorSnapshot.empty(base.header.dimension))

    @property
    def last_place(self) -> int:
        """The number in the store beyond which there are rows that the snapshot may lack."""
        return max(self.base.header.last_place, self.own.last_place)

    def extended(
        self, rows: Sequence[int], ids: Sequence[str], documents: Sequence[str], vectors: Vectors
    ) -> "MappedSnapshot":
        """Returns a snapshot with these rows added. `rows` ascend and are greater than all existing rows."""
        return replace(self, own=self.own.extended(rows, ids, documents, vectors))

    def without(self, rows: NDArray[np.int64]) -> "MappedSnapshot":
        """Returns a snapshot without these rows, which may be unknown."""
        gone = self.base.find_rows(rows)
        alive = self.alive
        if gone.size:
            alive = np.ones(len(self.base), dtype=np.bool_) if alive is None else alive.copy()
            alive[gone] = False
        return replace(self, alive=alive, own=self.own.without(rows))

    def search(self, query: Vectors, k: int, documents: Collection[str] | None) -> list[Scored]:
        """Returns the `k` best by dot product, ties by id, of all documents or of these.

        Raises `DamagedRows`.
        """
        found = self.base.search(query, k, documents, self.alive)
        if self.own.size:
            found = heapq.nsmallest(k, found + self.own.search(query, k, documents), key=_order)
        return found

    def find(self, ids: Iterable[str]) -> dict[str, Vectors]:
        """Returns the vectors of the ids whose vectors here are certainly current; the store may have others."""
        return self.own.find(ids)

    def within(self, vectors: Vectors, threshold: float) -> list[list[Scored]]:
        """Returns for each vector all rows with a dot product of at least `threshold`, best first, ties by id.

        Raises `DamagedRows`.
        """
        older = self.base.within(vectors, threshold, self.alive)
        newer = self.own.within(vectors, threshold)
        return [sorted(old + new, key=_order) for old, new in zip(older, newer, strict=True)]


def _order(scored: Scored) -> tuple[float, str]:
    return -scored.score, scored.id


_QUERIES = 50
_NEAREST = 10


def measure_recall(snapshot: MappedSnapshot) -> float:
    """Returns the share of the ten nearest rows that searches find, for rows that are spread evenly over the base.

    A row is not counted among its own nearest. Reads all rows once, and raises `DamagedRows` if a row is damaged.
    """
    base = snapshot.base
    rows = np.arange(len(base)) if snapshot.alive is None else np.flatnonzero(snapshot.alive)
    queried = rows[:: max(1, -(-rows.size // _QUERIES))]
    queries = base.read_rows(queried)
    found = wanted = 0
    for row, query, nearest in zip(queried, queries, _find_nearest(base, snapshot.alive, queries), strict=True):
        expected = set(base.read_ids(nearest[nearest != row][:_NEAREST]))
        hits = base.search(query, _NEAREST + 1, None, snapshot.alive)
        found += len(expected.intersection(hit.id for hit in hits))
        wanted += len(expected)
    return found / wanted if wanted else 1.0


def _find_nearest(base: VectorBase, alive: Alive, queries: Vectors) -> list[NDArray[np.intp]]:
    """Returns the nearest rows of each query, the best first."""
    best = np.empty((len(queries), 0), dtype=np.float32)
    places = np.empty((len(queries), 0), dtype=np.intp)
    for start in range(0, len(base), BLOCK):
        block = np.arange(start, min(start + BLOCK, len(base)))
        vectors = base.read_rows(block)
        block, vectors = (block, vectors) if alive is None else (block[alive[block]], vectors[alive[block]])
        best = np.concatenate([best, queries @ vectors.T], axis=1)
        places = np.concatenate([places, np.broadcast_to(block, (len(queries), block.size))], axis=1)
        order = np.argsort(-best, axis=1)[:, : _NEAREST + 1]
        best, places = np.take_along_axis(best, order, axis=1), np.take_along_axis(places, order, axis=1)
    return list(places)
