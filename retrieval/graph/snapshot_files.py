"""When snapshots are read from files, written and deleted. Open it when a start is slow, or files are too old.

It also says how much memory the arrays of snapshots take, for metrics, and in which files they lie.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import numpy as np

from core.errors import HopweaveError, NotFound
from core.execution.files import FileMapping
from core.ports.record import GraphChanges, GraphSource
from core.record_policy.commits import KEPT_SECONDS
from retrieval.graph.layered import follow
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.graph.snapshot_folder import BuildLock, LoggedFolder
from retrieval.graph.snapshot_format import find_mapping, is_mapped

_log = logging.getLogger("hopweave.retrieval")

_POLL_SECONDS = 0.05

_Adopt = Callable[[GraphSnapshot, GraphSnapshot], None]
"""Called with a snapshot and its equal in a file, which may take its place."""


@dataclass(frozen=True, kw_only=True)
class FilePolicy:
    """When a snapshot is written.

    Corpora of fewer than `least_chunks` have no file: they are built in 0.1 s. A snapshot that was built is
    written at once. One to which changes were applied is written when these are more than `changed_share` of it, when
    they are more than `idle_share` of it and the corpus has not changed for `idle_seconds`, when its file has held
    deleted chunks for `deleted_seconds`, or when it lacks changes for `lacking_seconds`, which the change log must
    reach back to; but not within `pause_seconds` of the write before. A file that lacks more than `lacking_chunks`,
    which a process that starts would follow for .2 s, is behind.
    """

    least_chunks: int = 2_000
    changed_share: float = 0.05
    idle_share: float = 0.002
    idle_seconds: float = 30.0
    deleted_seconds: float = 600.0
    lacking_seconds: float = KEPT_SECONDS / 3
    lacking_chunks: int = 3_000
    pause_seconds: float = 30.0


@dataclass
class _State:
    """The state of the file of one corpus, and the latest snapshot that is not in it.

    `generation` is the generation of the file, None without a readable file. `changed` counts the changes since.
    """

    generation: int | None = None
    snapshot: GraphSnapshot | None = None
    adopt: _Adopt | None = None
    changed: int = 0
    changed_at: float = 0.0
    lacking_since: float = float("inf")
    deleted_at: float = float("inf")
    written_at: float = float("-inf")
    is_writing: bool = False
    task: "asyncio.Task[None] | None" = None

    def forget_changes(self) -> None:
        """Resets the changes: the file has all of them."""
        self.changed, self.lacking_since, self.deleted_at = 0, float("inf"), float("inf")

    @property
    def pending(self) -> "asyncio.Task[None] | None":
        """The task that writes or waits to write. It also ends with the event loop in which it was made."""
        return None if self.task is None or self.task.done() else self.task


class SnapshotFiles:
    """Opens, writes and deletes the files for one process. If a file cannot be used, the snapshot is in memory."""

    def __init__(
        self, graph: GraphSource, folder: Path, policy: FilePolicy | None = None, *, wait_seconds: float = 60.0
    ) -> None:
        """Waits at most `wait_seconds` for another process that builds or writes the same snapshot."""
        self._graph = graph
        self._wait_seconds = wait_seconds
        self._folder = LoggedFolder(folder)
        self._policy = policy or FilePolicy()
        self._states: dict[str, _State] = {}
        self._stop = threading.Event()
        self._closing = asyncio.Event()

    async def open(self, corpus_id: str, adopt: _Adopt) -> GraphSnapshot | None:
        """Returns the snapshot of a corpus as its file and the changes since give it; None if it has to be built.

        Raises what the record raises, `NotFound` after deleting the file of a deleted corpus.
        """
        mapped = await asyncio.to_thread(self._folder.read, corpus_id)
        if mapped is None:
            return None
        try:
            changes = await self._graph.changes(corpus_id, mapped.generation)
        except NotFound:
            await self.delete(corpus_id)
            raise
        snapshot = None
        if changes is not None:
            snapshot = await asyncio.to_thread(follow, mapped, changes)
        if changes is None or snapshot is None:
            await self.delete(corpus_id)  # older than the change log, or of another record
            return None
        state = self._states.setdefault(corpus_id, _State())
        state.generation, state.snapshot = mapped.generation, None
        state.forget_changes()
        if snapshot.generation != mapped.generation:
            self.keep(corpus_id, snapshot, changes, adopt)
        return snapshot

    async def open_later(self, corpus_id: str, generation: int, adopt: _Adopt) -> GraphSnapshot | None:
        """Returns what `open` returns, if the file is of a later generation than `generation`; else None.

        After a large ingest another process may have written the file, so that few changes are left to apply.
        """
        file = await asyncio.to_thread(self._folder.describe, corpus_id)
        return await self.open(corpus_id, adopt) if file is not None and file.generation > generation else None

    @asynccontextmanager
    async def building(self, corpus_id: str) -> AsyncIterator[None]:
        """Makes other processes wait while the snapshot of a corpus is built in the block, and written after it.

        Waits while another process builds the snapshot, which may then be in a file.
        """
        lock = await self._lock(corpus_id)
        try:
            yield
        finally:
            state = self._states.get(corpus_id)
            pending = None if state is None else state.pending
            if lock is not None and pending is not None:
                pending.add_done_callback(lambda _: lock.release())
            elif lock is not None:
                lock.release()

    def keep(self, corpus_id: str, snapshot: GraphSnapshot, changes: GraphChanges | None, adopt: _Adopt) -> None:
        """Writes the snapshot in the background, when that is due. `changes` led to it; None: it was built."""
        state = self._states.setdefault(corpus_id, _State())
        state.snapshot, state.adopt, state.changed_at = snapshot, adopt, time.monotonic()
        if changes is None:
            state.generation = None
        else:
            state.changed += len(changes.removed) + len(changes.synonyms_of)
            state.lacking_since = min(state.lacking_since, state.changed_at)
            if not {chunk.id for chunk in changes.added.chunks}.issuperset(changes.removed):
                state.deleted_at = min(state.deleted_at, state.changed_at)
        if not self._is_worthwhile(state):
            state.snapshot = None
        elif state.pending is None:
            state.task = asyncio.create_task(self._write_when_due(corpus_id, state), name="writing a snapshot")

    async def is_behind(self, corpus_id: str) -> bool:
        """Whether the file of a corpus should be written: it does not exist, lacks many changes, or has lacked changes
        for long.
        """
        file = await asyncio.to_thread(self._folder.describe, corpus_id)
        if file is None:
            return True
        if file.age_seconds > self._policy.lacking_seconds:
            return await self._graph.generation(corpus_id) > file.generation
        return await self._graph.count_changes(corpus_id, file.generation) > self._policy.lacking_chunks

    def discard(self, corpus_id: str) -> None:
        """Stops following a corpus whose snapshot is not used any more. Its file stays."""
        state = self._states.pop(corpus_id, None)
        if state is not None and state.pending is not None and not state.is_writing:
            state.pending.cancel()

    async def delete(self, corpus_id: str) -> None:
        """Deletes the file of a corpus, if it exists, also a file that this process is writing."""
        state = self._states.get(corpus_id)
        self.discard(corpus_id)
        if state is not None and (pending := state.pending) is not None:
            state.snapshot = None
            await asyncio.wait([pending])
        await asyncio.to_thread(self._folder.delete, corpus_id)

    async def clean(self, *, outdated: bool = False) -> Sequence[str]:
        """Deletes the files of corpora that do not exist, files that changes cannot follow, and unfinished files.

        With `outdated`, also deletes files of earlier generations, which may hold deleted content, and files with a
        wrong checksum, for which all files are read. Returns the ids of the corpora whose files were deleted. Raises
        what the record raises.
        """
        deleted = []
        await asyncio.to_thread(self._folder.delete_leftovers)
        for corpus_id in await asyncio.to_thread(self._folder.list_corpora):
            whole = not outdated or await asyncio.to_thread(self._folder.read, corpus_id, check=True) is not None
            if not whole or not await self._is_usable(corpus_id, outdated=outdated):
                await asyncio.to_thread(self._folder.delete, corpus_id)
                deleted.append(corpus_id)
        return deleted

    async def close(self) -> None:
        """Writes at once what waits to be written, so that the next process finds it."""
        self._closing.set()
        self._stop.set()
        tasks = [state.pending for state in self._states.values() if state.pending is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        self._states.clear()

    async def _is_usable(self, corpus_id: str, *, outdated: bool) -> bool:
        """Whether the file is of the record's generation, or can be brought to it."""
        file = await asyncio.to_thread(self._folder.describe, corpus_id)
        try:
            generation = await self._graph.generation(corpus_id)
            if file is None or file.generation >= generation or outdated:
                return file is not None and file.generation == generation
            if file.age_seconds < KEPT_SECONDS:  # reading the changes costs more than the check of the age
                return True
            return await self._graph.changes(corpus_id, file.generation) is not None
        except NotFound:
            return False

    async def _lock(self, corpus_id: str) -> BuildLock | None:
        """Returns the lock, or None if it could not be had."""
        deadline = time.monotonic() + (0 if self._closing.is_set() else self._wait_seconds)
        while True:
            try:
                lock = self._folder.try_build_lock(corpus_id)
            except OSError:
                return None
            if lock is not None or time.monotonic() > deadline:
                return lock
            await asyncio.sleep(_POLL_SECONDS)

    def _is_worthwhile(self, state: _State) -> bool:
        chunks = state.snapshot.whole.passages if state.snapshot is not None else 0
        return state.generation is not None or chunks >= self._policy.least_chunks

    def _due_at(self, state: _State) -> float:
        """Returns the time by the monotonic clock at which the latest snapshot should be written."""
        policy = self._policy
        assert state.snapshot is not None  # noqa: S101 - for the type checker: there is one to be written
        if state.generation is None or state.changed > policy.changed_share * state.snapshot.whole.adjacency.size:
            due = float("-inf")
        else:
            due = min(state.lacking_since + policy.lacking_seconds, state.deleted_at + policy.deleted_seconds)
            if state.changed > policy.idle_share * state.snapshot.whole.adjacency.size:
                due = min(due, state.changed_at + policy.idle_seconds)
        return max(due, state.written_at + policy.pause_seconds)

    async def _is_owed(self, corpus_id: str, state: _State, snapshot: GraphSnapshot) -> bool:
        """Whether a process that ends should write. The next process lays a few changes over the file."""
        file = await asyncio.to_thread(self._folder.describe, corpus_id)
        return (
            file is None
            or file.age_seconds > self._policy.lacking_seconds
            or state.deleted_at < float("inf")
            or state.changed > self._policy.idle_share * snapshot.whole.adjacency.size
        )

    async def _write_when_due(self, corpus_id: str, state: _State) -> None:
        while (snapshot := state.snapshot) is not None and self._is_worthwhile(state):
            if self._closing.is_set() and not await self._is_owed(corpus_id, state, snapshot):
                break
            wait = self._due_at(state) - time.monotonic()
            if wait > 0 and not self._closing.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), wait)
                continue
            await self._write(corpus_id, state, snapshot)

    async def _write(self, corpus_id: str, state: _State, snapshot: GraphSnapshot) -> None:
        """Writes one snapshot, and offers its equal in the file in its place."""
        if state.snapshot is snapshot:
            state.snapshot = None
            state.forget_changes()
        state.is_writing = True
        lock = None if state.generation is None else await self._lock(corpus_id)  # whoever builds has it already
        try:
            mapped = await asyncio.to_thread(self._write_file, corpus_id, snapshot)
        finally:
            if lock is not None:
                lock.release()
            state.is_writing = False
            state.written_at = time.monotonic()
        file = await asyncio.to_thread(self._folder.describe, corpus_id)
        state.generation = None if file is None else file.generation
        if mapped is not None and state.adopt is not None:
            state.adopt(snapshot, mapped)
        try:
            await self.clean()
        except HopweaveError as error:
            _log.info("snapshot files are not cleaned: %s", error)

    def _write_file(self, corpus_id: str, snapshot: GraphSnapshot) -> GraphSnapshot | None:
        if not all(mapping.is_intact() for mapping in list_mappings(snapshot)):
            return None  # the next search builds the snapshot again
        if snapshot.whole.passages >= self._policy.least_chunks:
            return self._folder.write(corpus_id, snapshot, self._stop)
        self._folder.delete(corpus_id)  # the corpus has become small
        return None


@dataclass(frozen=True, kw_only=True)
class HeldSnapshots:
    """The snapshots that a process holds: the bytes of arrays in its own memory, the bytes of arrays in mapped files,
    which processes share, and the seconds since the stalest snapshot was compared with the record.
    """

    bytes: int
    mapped_bytes: int
    age_seconds: float


def describe_held(snapshots: Iterable[object], *, age_seconds: float) -> HeldSnapshots:
    """Counts each array once. Python objects in arrays are not counted."""
    arrays = {id(array): array for snapshot in snapshots for array in _arrays(snapshot)}
    mapped = sum(array.nbytes for array in arrays.values() if is_mapped(array))
    total = sum(array.nbytes for array in arrays.values())
    return HeldSnapshots(bytes=total - mapped, mapped_bytes=mapped, age_seconds=age_seconds)


def list_mappings(snapshot: object) -> list[FileMapping]:
    """Returns the mappings of the files in which arrays of a snapshot lie, each once."""
    found = {id(mapping): mapping for array in _arrays(snapshot) if (mapping := find_mapping(array)) is not None}
    return list(found.values())


def _arrays(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _arrays(getattr(value, field.name))
