"""A collection during one call: reads and writes, which create and load it if necessary."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from core.errors import InvalidInput, Unavailable
from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.milvus.collections import MilvusCollections, MilvusIndex
from stores.milvus.rows import batched, make_in_filter
from stores.milvus.server import Absent, Deadline, MilvusServer, NotLoaded

if TYPE_CHECKING:
    from pymilvus import MilvusClient


T = TypeVar("T")
Level = Literal["Strong", "Session"]
"""The consistency of a read. `Strong` sees all writes (some 200 ms slower), `Session` the writes of this process."""

MAX_ROWS = 16_384
"""The maximum number of rows that a server returns at once."""

_DIGITS = 6
"""Digits of a score. The same product differs beyond these between kinds of segments, and ties would be broken."""

_ATTEMPTS = 3
_IDS_AT_ONCE = 2_000
_VECTORS_AT_ONCE = 1_000


class MilvusCollection:
    """A collection. Every method but `write` raises `Absent` if it does not exist."""

    def __init__(
        self, server: MilvusServer, collections: MilvusCollections, index: MilvusIndex, name: str, deadline: Deadline
    ) -> None:
        self._server = server
        self._collections = collections
        self._index = index
        self._deadline = deadline
        self.name = name

    def check_dimension(self, shape: tuple[int, ...]) -> None:
        """Raises `InvalidInput` if vectors of this shape cannot be compared with the rows of the collection."""
        if shape != (self._collections.read_dimension(self.name, self._deadline),):
            self._collections.invalidate(self.name)  # it may have been deleted and created again
            _check_dimension(shape, self._collections.read_dimension(self.name, self._deadline), self.name)

    def write(self, parts: Iterable[list[dict[str, Any]]], dimension: int) -> None:
        """Inserts or replaces rows, part by part. Creates the collection if it does not exist."""
        for part in parts:
            self._write_part(part, dimension)

    def delete(self, ids: Iterable[str]) -> None:
        """Deletes rows by id; unknown ids are ignored."""
        for part in batched(ids, _IDS_AT_ONCE):
            try:
                self._ask_loaded(partial(self._delete, make_in_filter("id", part)))
            finally:
                self._collections.unseen.add(self.name)

    def delete_all(self) -> None:
        """Deletes the collection. Raises `Conflict` if it does not belong to Hopweave."""
        self._collections.read_dimension(self.name, self._deadline)
        self._server.ask(lambda client: client.drop_collection(self.name, timeout=self._deadline.left))
        self._collections.invalidate(self.name)

    def rebuild(self) -> None:
        """Compacts the collection and builds its index again."""
        self._collections.read_dimension(self.name, self._deadline)
        self._collections.rebuild_index(self.name, self._deadline)

    def read_index(self) -> MilvusIndex:
        """Returns the index with which the collection was created."""
        return self._collections.read_index(self.name, self._deadline)

    def count(self) -> int:
        [row] = self._query("", ["count(*)"], "Session")
        return int(row["count(*)"])

    def find_existing(self, ids: Sequence[str], level: Level) -> set[str]:
        """Returns the `ids` that have a row."""
        found: set[str] = set()
        for part in batched(ids, _IDS_AT_ONCE):
            found.update(row["id"] for row in self._query(make_in_filter("id", part), ["id"], level))
            level = "Session"  # the first read has waited for the writes of all processes
        return found

    def read_vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Returns the vectors of those ids that have a row."""
        found: dict[str, Vectors] = {}
        for part in batched(ids, _VECTORS_AT_ONCE):
            rows = self._query(make_in_filter("id", part), ["id", "vector"], "Session")
            found.update((row["id"], np.asarray(row["vector"], dtype=np.float32)) for row in rows)
        return found

    def read_page(self, filter_: str, fields: list[str], limit: int, level: Level) -> list[dict[str, Any]]:
        """Returns any `limit` rows, in no reliable order."""
        return self._query(filter_, fields, level, limit=limit)

    def search(
        self,
        vectors: Vectors,
        limit: int,
        *,
        filter_: str = "",
        radius: float | None = None,
        level: Level = "Session",
    ) -> list[list[Scored]]:
        """Returns for each vector at most `limit` rows, best first. With `radius`, only rows with a greater product."""
        parameters: dict[str, float] = dict(self._index.search)
        if "ef" in parameters:
            parameters["ef"] = max(parameters["ef"], limit)  # the server refuses a smaller value
        if radius is not None:
            parameters["radius"] = radius

        def ask(client: "MilvusClient", level: Level) -> list[list[Scored]]:
            answers = client.search(
                self.name,
                list(vectors),
                filter=filter_,
                limit=limit,
                output_fields=["id"],
                search_params={"metric_type": "IP", "params": parameters},
                consistency_level=level,
                timeout=self._deadline.left,
            )
            return [[Scored(id=hit["id"], score=round(hit["distance"], _DIGITS)) for hit in hits] for hits in answers]

        return self._read(ask, level)

    def _read(self, ask: "Callable[[MilvusClient, Level], T]", level: Level) -> T:
        """Returns what `ask` returns. It sees all that this process wrote and deleted before."""
        pending = self._collections.unseen.pending(self.name)
        if pending is None:
            return self._ask_loaded(lambda client: ask(client, level))
        answer = self._ask_loaded(lambda client: ask(client, "Strong"))
        self._collections.unseen.mark_awaited(self.name, pending)
        return answer

    def _ask_loaded(self, ask: "Callable[[MilvusClient], T]") -> T:
        """Loads the collection if necessary, and returns what `ask` returns."""
        if self._collections.is_loading(self.name):
            # A read would wait for loading, too, but the server polls at growing intervals: 3 to 6 s instead of 2.
            self._collections.load(self.name, self._deadline)
        while True:
            try:
                answer = self._server.ask(ask)
            except NotLoaded as error:
                if self._deadline.is_spent:
                    raise self._collections.make_loading_error(self.name) from error
                self._collections.load(self.name, self._deadline)
            else:
                self._collections.mark_read(self.name)
                return answer

    def _write_part(self, part: list[dict[str, Any]], dimension: int) -> None:
        for _ in range(_ATTEMPTS):
            try:
                self._ensure_dimension(dimension)
                return self._server.ask(partial(self._upsert, part))
            except Absent:  # another process deleted it, perhaps long ago
                self._collections.invalidate(self.name)
        raise Unavailable(
            f"the collection {self.name} on Milvus is deleted again and again by another process: try again later"
        )

    def _ensure_dimension(self, dimension: int) -> None:
        there = self._collections.ensure(self.name, dimension, self._deadline)
        if there != dimension:
            self._collections.invalidate(self.name)  # it may have been deleted and created again
            there = self._collections.ensure(self.name, dimension, self._deadline)
        _check_dimension((dimension,), there, self.name)

    def _upsert(self, part: list[dict[str, Any]], client: "MilvusClient") -> None:
        client.upsert(self.name, part, timeout=self._deadline.left)

    def _delete(self, filter_: str, client: "MilvusClient") -> None:
        client.delete(self.name, filter=filter_, timeout=self._deadline.left)

    def _query(self, filter_: str, fields: list[str], level: Level, limit: int | None = None) -> list[dict[str, Any]]:
        bound = {} if limit is None else {"limit": limit}

        def ask(client: "MilvusClient", level: Level) -> list[dict[str, Any]]:
            return list(
                client.query(
                    self.name,
                    filter=filter_,
                    output_fields=fields,
                    consistency_level=level,
                    strict_float32=True,
                    timeout=self._deadline.left,
                    **bound,
                )
            )

        return self._read(ask, level)


def _check_dimension(given: tuple[int, ...], there: int, name: str) -> None:
    if given != (there,):
        shape = "×".join(map(str, given))
        raise InvalidInput(
            f"a vector of dimension {shape} does not fit the collection {name}, whose vectors have {there}: use the "
            "embedding model that the corpus was built with, or reindex it"
        )
