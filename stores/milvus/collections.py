"""Collections as Hopweave makes them: their shape, their index, and whether they are loaded."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.errors import Conflict, Unavailable
from stores.milvus.deletions import Deletions
from stores.milvus.expressions import KEY_LENGTH
from stores.milvus.server import Absent, Budget, MilvusServer

if TYPE_CHECKING:
    from pymilvus import MilvusClient

__all__ = ["Collections", "MilvusIndex"]

_POLL_SECONDS = 0.05
_RACE_SECONDS = 2.0
_BUILD = ("M", "efConstruction")


@dataclass(frozen=True, kw_only=True)
class MilvusIndex:
    """The vectors' index. `FLAT` is exact at any size, and as slow as the collection is large."""

    kind: str = "HNSW"
    build: Mapping[str, int] = field(default_factory=lambda: {"M": 16, "efConstruction": 200})
    search: Mapping[str, int] = field(default_factory=lambda: {"ef": 128})


class Collections:
    """Makes, checks and loads collections, and remembers the dimension of those that it has seen."""

    def __init__(self, server: MilvusServer, index: MilvusIndex) -> None:
        self._server = server
        self._index = index
        self._dimensions: dict[str, int] = {}
        self._made: set[str] = set()
        self.deletions = Deletions()

    def dimension(self, name: str, budget: Budget) -> int:
        """Raises `Absent`, or `Conflict` where the collection is not one of ours."""
        known = self._dimensions.get(name)
        if known is None:
            shape = self._server.ask(lambda client: client.describe_collection(name, timeout=budget.left))
            known = self._dimensions[name] = _dimension(name, shape, self._server.address)
        return known

    def made_with(self, name: str, budget: Budget) -> MilvusIndex:
        """As far as the server tells; what it keeps to itself is taken to be as it is set. Raises `Absent`."""
        self.dimension(name, budget)
        told = self._server.ask(lambda client: client.describe_index(name, "vector", timeout=budget.left)) or {}
        kind = str(told.get("index_type", self._index.kind))
        build = {key: int(told[key]) for key in _BUILD if key in told}
        as_set = self._index.build if kind == self._index.kind else {}
        return MilvusIndex(kind=kind, build={**as_set, **build}, search=self._index.search)

    def forget(self, name: str) -> None:
        self._dimensions.pop(name, None)

    def was_made_here(self, name: str) -> bool:
        """Whether this process made it and has not read from it yet: it is being loaded, which takes some seconds."""
        return name in self._made

    def was_read(self, name: str) -> None:
        self._made.discard(name)

    def dimension_or_new(self, name: str, dimension: int, budget: Budget) -> int:
        """The dimension of the collection, which is made where there is none; another process may do so as well."""
        try:
            return self.dimension(name, budget)
        except Absent:
            self._made.add(name)
            self._create(name, dimension, budget)
        self._index_and_load(name, budget)
        return self.dimension(name, budget)

    def load(self, name: str, budget: Budget) -> None:
        """Returns when it can be read. Raises `Unavailable` where that takes longer than the budget."""
        self._index_and_load(name, budget)
        while not self._is_loaded(name, budget):
            if budget.is_spent:
                raise self.still_loading(name)
            time.sleep(_POLL_SECONDS)

    def still_loading(self, name: str) -> Unavailable:
        return Unavailable(
            f"Milvus at {self._server.address} is still loading the collection {name}; after a restart of the server "
            "this takes up to a minute. Try again"
        )

    def rebuild_index(self, name: str, budget: Budget) -> None:
        """Drop the index, compact, and build it again; meanwhile the collection cannot be searched."""

        def work(client: "MilvusClient") -> None:
            client.flush(name, timeout=budget.left)
            client.release_collection(name, timeout=budget.left)
            if _has_index(client, name, budget):
                client.drop_index(name, "vector", timeout=budget.left)
            client.compact(name, timeout=budget.left)

        self._server.ask(work)
        self.load(name, budget)

    def _create(self, name: str, dimension: int, budget: Budget) -> None:
        from pymilvus import DataType

        def work(client: "MilvusClient") -> None:
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=KEY_LENGTH)
            schema.add_field("document", DataType.VARCHAR, max_length=KEY_LENGTH)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
            client.create_collection(name, schema=schema, consistency_level="Session", timeout=budget.left)

        try:
            self._server.ask(work)
        except Unavailable:
            # Another process was quicker, and its dimension counts; or it is not done yet.
            if not self._appears(name, Budget(min(_RACE_SECONDS, budget.left))):
                raise

    def _appears(self, name: str, budget: Budget) -> bool:
        while not self._server.ask(lambda client: client.has_collection(name, timeout=budget.left)):
            if budget.is_spent:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _index_and_load(self, name: str, budget: Budget) -> None:
        """Ask for both and wait for neither. Each is harmless to repeat, so that any process may end what one began."""

        def index(client: "MilvusClient") -> None:
            if not _has_index(client, name, budget):
                params = client.prepare_index_params()
                build = dict(self._index.build)
                params.add_index("vector", index_type=self._index.kind, metric_type="IP", params=build)
                client.create_index(name, params, timeout=budget.left, sync=False)

        try:
            self._server.ask(index)
        except Unavailable:
            if not self._server.ask(lambda client: _has_index(client, name, budget)):
                raise
        self._server.ask(lambda client: client.load_collection(name, timeout=budget.left, _async=True))

    def _is_loaded(self, name: str, budget: Budget) -> bool:
        from pymilvus.client.types import LoadState

        state = self._server.ask(lambda client: client.get_load_state(name, timeout=budget.left))["state"]
        if state == LoadState.NotExist:
            raise Absent
        return bool(state == LoadState.Loaded)


def _has_index(client: "MilvusClient", name: str, budget: Budget) -> bool:
    return bool(client.list_indexes(name, field_name="vector", timeout=budget.left))


def _dimension(name: str, shape: Mapping[str, Any], address: str) -> int:
    from pymilvus import DataType

    fields = {one["name"]: one for one in shape["fields"]}
    types = {key: one["type"] for key, one in fields.items()}
    ours = {"id": DataType.VARCHAR, "document": DataType.VARCHAR, "vector": DataType.FLOAT_VECTOR}
    if types != ours or not fields["id"].get("is_primary") or shape.get("enable_dynamic_field"):
        raise Conflict(
            f"the collection {name} on Milvus at {address} has another shape than Hopweave's: nothing was written to "
            "it. Rename it, or use another server or database in HOPWEAVE_MILVUS__URI"
        )
    return int(fields["vector"]["params"]["dim"])
