"""Creates and loads the collections of Hopweave, with their fields and their index.

`UnseenWrites` counts the writes that a read would not see, to find out which reads must wait for them.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.errors import Conflict, Unavailable
from stores.milvus.rows import KEY_LENGTH
from stores.milvus.server import Absent, Deadline, MilvusServer

if TYPE_CHECKING:
    from pymilvus import MilvusClient


class UnseenWrites:
    """Writes that a `Session` read of this process does not wait for, by collection.

    They are the deletions of this process, as Milvus 2.3 does not report their time, and writes of other processes
    that a caller asks to see. The next read must be `Strong`; later reads see them without waiting.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: Counter[str] = Counter()
        self._awaited: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Records a write. Call it after the server has answered."""
        with self._lock:
            self._done[name] += 1

    def pending(self, name: str) -> int | None:
        """Returns None if no write is to be awaited.

        Otherwise the read must be `Strong`, and the returned number goes to `mark_awaited` afterwards.
        """
        with self._lock:
            done = self._done[name]
            return done if done > self._awaited.get(name, 0) else None

    def mark_awaited(self, name: str, pending: int) -> None:
        """Records that a `Strong` read has waited for the first `pending` writes."""
        with self._lock:
            self._awaited[name] = max(pending, self._awaited.get(name, 0))


_POLL_SECONDS = 0.05
_RACE_SECONDS = 2.0
_BUILD = ("M", "efConstruction")


@dataclass(frozen=True, kw_only=True)
class MilvusIndex:
    """The index of the vectors. `FLAT` is exact, with a search time proportional to the size of the collection."""

    kind: str = "HNSW"
    build: Mapping[str, int] = field(default_factory=lambda: {"M": 16, "efConstruction": 200})
    search: Mapping[str, int] = field(default_factory=lambda: {"ef": 128})


class MilvusCollections:
    """Creates, checks and loads collections, and caches their dimensions."""

    def __init__(self, server: MilvusServer, index: MilvusIndex) -> None:
        self._server = server
        self._index = index
        self._dimensions: dict[str, int] = {}
        self._loading: set[str] = set()
        self.unseen = UnseenWrites()

    def read_dimension(self, name: str, deadline: Deadline) -> int:
        """Returns the dimension of the vectors. Raises `Absent`, or `Conflict` if the collection is not of Hopweave."""
        known = self._dimensions.get(name)
        if known is None:
            shape = self._server.ask(lambda client: client.describe_collection(name, timeout=deadline.left))
            known = self._dimensions[name] = _check_shape(name, shape, self._server.address)
        return known

    def read_index(self, name: str, deadline: Deadline) -> MilvusIndex:
        """Returns the index, with the configured values for parameters that the server does not report.

        Raises `Absent` if the collection does not exist.
        """
        self.read_dimension(name, deadline)
        reported = self._server.ask(lambda client: client.describe_index(name, "vector", timeout=deadline.left)) or {}
        kind = str(reported.get("index_type", self._index.kind))
        build = {key: int(reported[key]) for key in _BUILD if key in reported}
        as_set = self._index.build if kind == self._index.kind else {}
        return MilvusIndex(kind=kind, build={**as_set, **build}, search=self._index.search)

    def invalidate(self, name: str) -> None:
        """Deletes the cached dimension of a collection."""
        self._dimensions.pop(name, None)

    def is_loading(self, name: str) -> bool:
        """Returns whether this process created the collection and has not read it yet. Loading takes some seconds."""
        return name in self._loading

    def mark_read(self, name: str) -> None:
        """Records that the collection was read, and so is loaded."""
        self._loading.discard(name)

    def ensure(self, name: str, dimension: int, deadline: Deadline) -> int:
        """Creates the collection if it does not exist, and returns its dimension.

        Another process may create it at the same time; then its dimension counts.
        """
        try:
            return self.read_dimension(name, deadline)
        except Absent:
            self._loading.add(name)
            self._create(name, dimension, deadline)
        self._index_and_load(name, deadline)
        return self.read_dimension(name, deadline)

    def load(self, name: str, deadline: Deadline) -> None:
        """Waits until the collection can be read. Raises `Unavailable` if the deadline passes before."""
        self._index_and_load(name, deadline)
        while not self._is_loaded(name, deadline):
            if deadline.is_spent:
                raise self.make_loading_error(name)
            time.sleep(_POLL_SECONDS)

    def make_loading_error(self, name: str) -> Unavailable:
        """Returns the error for a collection that is not loaded in time."""
        return Unavailable(
            f"Milvus at {self._server.address} is still loading the collection {name}; after a restart of the server "
            "this takes up to a minute. Try again"
        )

    def rebuild_index(self, name: str, deadline: Deadline) -> None:
        """Deletes the index, compacts, and builds the index again. Until then the collection cannot be searched."""

        def work(client: "MilvusClient") -> None:
            client.flush(name, timeout=deadline.left)
            client.release_collection(name, timeout=deadline.left)
            if _has_index(client, name, deadline):
                client.drop_index(name, "vector", timeout=deadline.left)
            client.compact(name, timeout=deadline.left)

        self._server.ask(work)
        self.load(name, deadline)

    def _create(self, name: str, dimension: int, deadline: Deadline) -> None:
        from pymilvus import DataType

        def work(client: "MilvusClient") -> None:
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=KEY_LENGTH)
            schema.add_field("document", DataType.VARCHAR, max_length=KEY_LENGTH)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
            client.create_collection(name, schema=schema, consistency_level="Session", timeout=deadline.left)

        try:
            self._server.ask(work)
        except Unavailable:
            # Another process may be creating the same collection.
            if not self._wait_until_created(name, Deadline(min(_RACE_SECONDS, deadline.left))):
                raise

    def _wait_until_created(self, name: str, deadline: Deadline) -> bool:
        while not self._server.ask(lambda client: client.has_collection(name, timeout=deadline.left)):
            if deadline.is_spent:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _index_and_load(self, name: str, deadline: Deadline) -> None:
        """Starts indexing and loading without waiting. Both may be repeated by any process."""

        def index(client: "MilvusClient") -> None:
            if not _has_index(client, name, deadline):
                params = client.prepare_index_params()
                build = dict(self._index.build)
                params.add_index("vector", index_type=self._index.kind, metric_type="IP", params=build)
                client.create_index(name, params, timeout=deadline.left, sync=False)

        try:
            self._server.ask(index)
        except Unavailable:
            if not self._server.ask(lambda client: _has_index(client, name, deadline)):
                raise
        self._server.ask(lambda client: client.load_collection(name, timeout=deadline.left, _async=True))

    def _is_loaded(self, name: str, deadline: Deadline) -> bool:
        from pymilvus.client.types import LoadState

        state = self._server.ask(lambda client: client.get_load_state(name, timeout=deadline.left))["state"]
        if state == LoadState.NotExist:
            raise Absent
        return bool(state == LoadState.Loaded)


def _has_index(client: "MilvusClient", name: str, deadline: Deadline) -> bool:
    return bool(client.list_indexes(name, field_name="vector", timeout=deadline.left))


def _check_shape(name: str, shape: Mapping[str, Any], address: str) -> int:
    from pymilvus import DataType

    fields = {field["name"]: field for field in shape["fields"]}
    types = {key: field["type"] for key, field in fields.items()}
    ours = {"id": DataType.VARCHAR, "document": DataType.VARCHAR, "vector": DataType.FLOAT_VECTOR}
    if types != ours or not fields["id"].get("is_primary") or shape.get("enable_dynamic_field"):
        raise Conflict(
            f"the collection {name} on Milvus at {address} has another shape than Hopweave's: nothing was "
            "written to it. Rename it, or use another server or database in HOPWEAVE_MILVUS__URI"
        )
    return int(fields["vector"]["params"]["dim"])
