"""One collection during one call: questions to it, which load it first where that is needed."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from core.errors import InvalidInput, Unavailable
from core.ports.embedding import Vectors
from core.ports.views import Scored
from stores.milvus.collections import Collections, MilvusIndex
from stores.milvus.expressions import batched, listed
from stores.milvus.server import Absent, Budget, MilvusServer, NotLoaded

if TYPE_CHECKING:
    from pymilvus import MilvusClient

__all__ = ["MOST", "Collection", "Level"]

T = TypeVar("T")
Level = Literal["Strong", "Session"]
"""`Strong` waits for all that anybody wrote (some 200 ms), `Session` only for what this process wrote."""

MOST = 16_384
"""More rows a server gives in no answer."""

_DIGITS = 6
"""Of a score: the same product differs beyond these between the kinds of segments, and ties would not be ties."""

_ATTEMPTS = 3
_IDS_AT_ONCE = 2_000
_VECTORS_AT_ONCE = 1_000


class Collection:
    """Every method but `write` raises `Absent` where the collection is not there."""

    def __init__(
        self, server: MilvusServer, collections: Collections, index: MilvusIndex, name: str, budget: Budget
    ) -> None:
        self._server = server
        self._collections = collections
        self._index = index
        self._budget = budget
        self.name = name

    def check_dimension(self, shape: tuple[int, ...]) -> None:
        """Raises `InvalidInput` where vectors of this shape cannot be compared with the rows there."""
        if shape != (self._collections.dimension(self.name, self._budget),):
            self._collections.forget(self.name)  # it may have been dropped and made again since
            _check_dimension(shape, self._collections.dimension(self.name, self._budget), self.name)

    def write(self, parts: Iterable[list[dict[str, Any]]], dimension: int) -> None:
        """Insert or replace parts of rows; the collection is made where there is none."""
        for part in parts:
            self._write_part(part, dimension)

    def delete(self, ids: Iterable[str]) -> None:
        for part in batched(ids, _IDS_AT_ONCE):
            try:
                self._loaded(partial(self._delete, listed("id", part)))
            finally:
                self._collections.deletions.add(self.name)

    def drop(self) -> None:
        self._collections.dimension(self.name, self._budget)  # what is not ours stays
        self._server.ask(lambda client: client.drop_collection(self.name, timeout=self._budget.left))
        self._collections.forget(self.name)

    def rebuild(self) -> None:
        self._collections.dimension(self.name, self._budget)
        self._collections.rebuild_index(self.name, self._budget)

    def made_with(self) -> MilvusIndex:
        return self._collections.made_with(self.name, self._budget)

    def count(self) -> int:
        [row] = self._query("", ["count(*)"], "Session")
        return int(row["count(*)"])

    def present(self, ids: Sequence[str], level: Level) -> set[str]:
        found: set[str] = set()
        for part in batched(ids, _IDS_AT_ONCE):
            found.update(row["id"] for row in self._query(listed("id", part), ["id"], level))
            level = "Session"  # what was waited for once is seen from then on
        return found

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        for part in batched(ids, _VECTORS_AT_ONCE):
            rows = self._query(listed("id", part), ["id", "vector"], "Session")
            found.update((row["id"], np.asarray(row["vector"], dtype=np.float32)) for row in rows)
        return found

    def page(self, filter_: str, fields: list[str], limit: int, level: Level) -> list[dict[str, Any]]:
        """Any `limit` rows, in no order that could be relied on."""
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
        """For each vector at most `limit` rows, best first; with `radius` only those with a greater product."""
        parameters: dict[str, float] = dict(self._index.search)
        if "ef" in parameters:
            parameters["ef"] = max(parameters["ef"], limit)  # a smaller one is refused
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
                timeout=self._budget.left,
            )
            return [[Scored(id=hit["id"], score=round(hit["distance"], _DIGITS)) for hit in hits] for hits in answers]

        return self._read(ask, level)

    def _read(self, ask: "Callable[[MilvusClient, Level], T]", level: Level) -> T:
        """What `ask` returns, with all that this process wrote and deleted before."""
        pending = self._collections.deletions.pending(self.name)
        if pending is None:
            return self._loaded(lambda client: ask(client, level))
        answer = self._loaded(lambda client: ask(client, "Strong"))
        self._collections.deletions.settle(self.name, pending)
        return answer

    def _loaded(self, ask: "Callable[[MilvusClient], T]") -> T:
        """What `ask` returns, once the collection is loaded."""
        if self._collections.was_made_here(self.name):
            # The server itself would wait, ever longer between its looks: for 3 or 6 s where 2 do.
            self._collections.load(self.name, self._budget)
        while True:
            try:
                answer = self._server.ask(ask)
            except NotLoaded as error:
                if self._budget.is_spent:
                    raise self._collections.still_loading(self.name) from error
                self._collections.load(self.name, self._budget)
            else:
                self._collections.was_read(self.name)
                return answer

    def _write_part(self, part: list[dict[str, Any]], dimension: int) -> None:
        for _ in range(_ATTEMPTS):
            try:
                self._make_fitting(dimension)
                return self._server.ask(partial(self._upsert, part))
            except Absent:  # dropped by another process, perhaps long ago
                self._collections.forget(self.name)
        raise Unavailable(f"the collection {self.name} on Milvus is dropped again and again: try again later")

    def _make_fitting(self, dimension: int) -> None:
        there = self._collections.dimension_or_new(self.name, dimension, self._budget)
        if there != dimension:
            self._collections.forget(self.name)  # it may have been dropped and made again since
            there = self._collections.dimension_or_new(self.name, dimension, self._budget)
        _check_dimension((dimension,), there, self.name)

    def _upsert(self, part: list[dict[str, Any]], client: "MilvusClient") -> None:
        client.upsert(self.name, part, timeout=self._budget.left)

    def _delete(self, filter_: str, client: "MilvusClient") -> None:
        client.delete(self.name, filter=filter_, timeout=self._budget.left)

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
                    timeout=self._budget.left,
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
