"""The port of a composition: everything that differs between an embedded installation and one on servers.

`choose_composition` is the one place that looks at the kind of installation.
"""

from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from app.broker.notifier import Notifier
from app.supervision.supervision import Supervision
from core.ports.record import Record
from core.ports.trails import Trails
from core.ports.views import TextIndex, VectorKind, VectorStore
from core.settings import Settings

Check: TypeAlias = Callable[[], Coroutine[None, None, str]]
"""Returns what answers, such as `Redis 7.0.15`. Raises `Unavailable` or `InvalidSettings`."""


class Closable(Protocol):
    """A part that holds files or connections."""

    async def close(self) -> None: ...


class ClosableVectorStore(VectorStore, Closable, Protocol):
    """A vector store that the container closes."""


class ClosableTextIndex(TextIndex, Closable, Protocol):
    """A text index that the container closes."""


class SchemaState(StrEnum):
    """The state of the record's schema. `missing`: there is no record yet, and the first use creates it."""

    MISSING = "missing"
    NEWEST = "newest"
    OLDER = "older"
    NEWER = "newer"


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The schema of a record. `found` is its version (None: no record), `newest` the version of this release."""

    record: str
    found: int | None
    newest: int

    @property
    def state(self) -> SchemaState:
        if self.found is None:
            return SchemaState.MISSING
        if self.found == self.newest:
            return SchemaState.NEWEST
        return SchemaState.OLDER if self.found < self.newest else SchemaState.NEWER


class Composition(Protocol):
    """Makes the adapters of one kind of installation, and knows where its workers run.

    The container closes what the `make_…` methods return.
    """

    @property
    def worker(self) -> Literal["embedded", "server"]:
        """The kind of worker process, as `app.worker.worker_process` runs it."""
        ...

    @property
    def waits_for_servers(self) -> bool:
        """Whether processes check the servers when they start, and then wait for servers that do not answer."""
        ...

    @property
    def locked_folder(self) -> Path | None:
        """The data folder, if its lock decides which process writes the views. None: any number of workers write."""
        ...

    @property
    def next_worker(self) -> str:
        """Who continues with queued work, for messages: 'with the workers'."""
        ...

    def exists(self) -> bool:
        """Whether there may be a record. If not, opening it would create it."""
        ...

    def make_record(self) -> Record: ...

    def make_vectors(self) -> ClosableVectorStore: ...

    def make_text_index(self) -> ClosableTextIndex: ...

    def make_trails(self) -> Trails | None:
        """Returns None if answers leave no trail."""
        ...

    def make_notifier(self) -> Notifier: ...

    def server_checks(self) -> Mapping[str, Check]:
        """Returns checks of servers other than the stores, by name. An outage of these degrades the installation."""
        ...

    async def read_schema(self) -> Schema:
        """Reads the version of the record's schema, and writes nothing.

        Raises `Unavailable`, or `InvalidSettings` if the record does not belong to Hopweave.
        """
        ...

    async def describe_other_indexes(self, corpus_id: str) -> Mapping[VectorKind, str]:
        """Returns the indexes of vectors that differ from the index that is set. Empty if there is no such setting."""
        ...

    async def measure_recall(self, corpus_id: str) -> Mapping[VectorKind, float]:
        """Returns the share of the ten nearest vectors that searches find, of each kind that is not searched exactly.

        Empty if that is not measured.
        """
        ...

    async def clean_vector_files(self) -> int:
        """Deletes the files of vectors that have something deleted in them. Returns how many were deleted."""
        ...

    def lock_views(self) -> AbstractContextManager[object]:
        """Returns a context manager in which this process may write the views. Entering it raises `FolderHeld`."""
        ...

    def supervise(self) -> Supervision:
        """Returns a context manager in which a worker runs, as far as this process is responsible for it."""
        ...

    def run_workers(self, concurrency: int, report: Callable[[str], None]) -> bool:
        """Runs workers until a signal. Returns whether all ended normally. `report` receives messages for the user.

        Raises `InvalidInput` if there cannot be so many workers, and `FolderHeld`.
        """
        ...


def choose_composition(settings: Settings) -> Composition:
    """Returns the composition for the settings. Imports only the chosen composition, and opens nothing."""
    if settings.on_servers:
        from app.composition.servers import ServerComposition

        return ServerComposition(settings)
    from app.composition.embedded import EmbeddedComposition

    return EmbeddedComposition(settings)
