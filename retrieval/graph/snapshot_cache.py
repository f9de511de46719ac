"""Snapshots by corpus, refreshed from the record in the background. Open it when answers lag behind commits."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from core.errors import NotFound
from core.execution.files import FileMapping
from core.ports.record import GraphChanges, GraphSource
from core.trace import Trace
from retrieval.graph.layered import follow
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot
from retrieval.graph.snapshot_files import HeldSnapshots, SnapshotFiles, describe_held, list_mappings

_POLL_SECONDS = 0.05


@dataclass
class _Entry:
    """One corpus: its current snapshot, when it was last compared with the record, whether the next search compares it
    however short ago that was, and the refresh that runs.
    """

    snapshot: GraphSnapshot | None = None
    checked: float = float("-inf")
    is_due: bool = False
    refresh: asyncio.Task[GraphSnapshot] | None = None
    begun: float = 0.0
    _mappings: tuple[GraphSnapshot | None, list[FileMapping]] = (None, [])

    def is_intact(self) -> bool:
        """Returns whether the files in which the snapshot lies are as they were: else it must not be read."""
        if self._mappings[0] is not self.snapshot:
            self._mappings = (self.snapshot, list_mappings(self.snapshot))
        return all(mapping.is_intact() for mapping in self._mappings[1])

    def adopt(self, old: GraphSnapshot, equal: GraphSnapshot) -> None:
        """Takes a snapshot that is mapped from a file in place of its equal in memory, unless that is replaced."""
        if self.snapshot is old:
            self.snapshot = equal


class SnapshotCache:
    """Serves the snapshot of each corpus, and compares it with the record at most every `interval` seconds.

    A refresh that takes longer than `patience` seconds continues in the background; until it ends the old snapshot is
    served, unless it has no passages: then the refresh is waited for. At most one refresh runs for a corpus. The
    `capacity` corpora that were used last are kept.

    With `files`, a snapshot is mapped from its file if that exists, and written to a file if that is worthwhile.
    `write_apart` lets another process write the file of a corpus. It returns whether it did: it may leave small corpora
    to this process.
    """

    def __init__(
        self,
        graph: GraphSource,
        *,
        files: SnapshotFiles | None = None,
        write_apart: Callable[[str], Awaitable[bool]] | None = None,
        interval: float = 2.0,
        patience: float = 0.2,
        wait_seconds: float = 2.0,
        capacity: int = 64,
    ) -> None:
        self._graph = graph
        self._files = files
        self._write_apart = write_apart
        self._interval = interval
        self._patience = patience
        self._wait_seconds = wait_seconds
        self._capacity = capacity
        self._corpora: OrderedDict[str, _Entry] = OrderedDict()

    async def get(
        self, corpus_id: str, *, min_generation: int | None = None, trace: Trace | None = None
    ) -> GraphSnapshot:
        """Returns the corpus' snapshot, of at least `min_generation` if that is reached within `wait_seconds`.

        If it is not reached, `trace` notes that the graph is stale. Raises what the record raises if a refresh fails
        that the caller waits for.
        """
        entry = self._get_entry(corpus_id)
        snapshot = await self._get_current(corpus_id, entry)
        wanted = min_generation if min_generation is not None else 0
        deadline = time.monotonic() + self._wait_seconds
        snapshot = await self._await_generation(corpus_id, entry, snapshot, wanted, deadline)
        if snapshot.generation < wanted and trace is not None:
            trace.note(f"stale: the graph is at generation {snapshot.generation}, {wanted} was asked for")
        return snapshot

    async def is_current(self, corpus_id: str, snapshot: GraphSnapshot) -> bool:
        """Returns whether the record has no later generation than the snapshot."""
        return await self._graph.generation(corpus_id) <= snapshot.generation

    async def follow(self, corpus_id: str, snapshot: GraphSnapshot) -> GraphSnapshot | None:
        """Returns a later snapshot than `snapshot`, if possible of the record's current generation.

        It does not wait for the interval. It waits up to `wait_seconds`, counted from the beginning of a refresh that
        runs already, so that callers in turn do not each wait for a long refresh. Then it returns the latest snapshot
        if that is later, else None.
        """
        wanted = await self._graph.generation(corpus_id)
        if wanted <= snapshot.generation:
            return None
        entry = self._get_entry(corpus_id)
        begun = time.monotonic() if entry.refresh is None else entry.begun
        latest = entry.snapshot or snapshot
        latest = await self._await_generation(corpus_id, entry, latest, wanted, begun + self._wait_seconds)
        return latest if latest.generation > snapshot.generation else None

    async def prepare(self, corpus_id: str) -> None:
        """Has the file of a large corpus written by another process, if the next search would wait for that.

        Raises what the record raises, and `Unavailable` if that process is killed.
        """
        if self._files is not None and self._write_apart is not None and await self._files.is_behind(corpus_id):
            await self._write_apart(corpus_id)

    def compare_again(self, corpus_id: str) -> None:
        """Makes the next search compare the snapshot with the record, however short ago that was done."""
        if (entry := self._corpora.get(corpus_id)) is not None:
            entry.is_due = True

    def evict(self, corpus_id: str) -> None:
        """Frees the snapshot of a corpus. Its file stays."""
        self._corpora.pop(corpus_id, None)
        if self._files is not None:
            self._files.discard(corpus_id)

    async def delete(self, corpus_id: str) -> None:
        """Frees the snapshot of a deleted corpus, and deletes its file."""
        self.evict(corpus_id)
        if self._files is not None:
            await self._files.delete(corpus_id)

    async def clean(self, *, outdated: bool = False) -> Sequence[str]:
        """Deletes files that no snapshot can be read from any more, such as files of deleted corpora.

        With `outdated`, also deletes files of earlier generations and damaged files. Returns the ids of the corpora
        whose files were deleted. Raises what the record raises.
        """
        return [] if self._files is None else await self._files.clean(outdated=outdated)

    async def close(self) -> None:
        """Writes what waits to be written to files."""
        if self._files is not None:
            await self._files.close()

    def describe(self) -> HeldSnapshots:
        """Returns how much memory the snapshots take, and how old the oldest is."""
        held = [entry for entry in self._corpora.values() if entry.snapshot is not None]
        oldest = min((entry.checked for entry in held), default=time.monotonic())
        return describe_held((entry.snapshot for entry in held), age_seconds=time.monotonic() - oldest)

    def _get_entry(self, corpus_id: str) -> _Entry:
        held = self._corpora.get(corpus_id)
        if held is not None and not held.is_intact():
            self.evict(corpus_id)  # the file is opened again, which finds what is wrong with it
        entry = self._corpora.setdefault(corpus_id, _Entry())
        self._corpora.move_to_end(corpus_id)
        while len(self._corpora) > self._capacity:
            self.evict(next(iter(self._corpora)))
        return entry

    async def _get_current(self, corpus_id: str, entry: _Entry) -> GraphSnapshot:
        old = entry.snapshot
        if old is None or not old.whole.passages:  # without passages there is nothing that an old snapshot could find
            return await asyncio.shield(self._refresh(corpus_id, entry))
        now = time.monotonic()
        if entry.refresh is None and not entry.is_due and now - entry.checked < self._interval:
            return old
        begun = now if entry.refresh is None else entry.begun
        return await self._await_refresh(corpus_id, entry, old, patience=begun + self._patience - now)

    async def _await_generation(
        self, corpus_id: str, entry: _Entry, snapshot: GraphSnapshot, wanted: int, deadline: float
    ) -> GraphSnapshot:
        """Returns a snapshot of at least the generation `wanted`, or the latest snapshot at `deadline`."""
        while snapshot.generation < wanted and (left := deadline - time.monotonic()) > 0:
            snapshot = await self._await_refresh(corpus_id, entry, snapshot, patience=left)
            if snapshot.generation < wanted:
                await asyncio.sleep(min(_POLL_SECONDS, max(deadline - time.monotonic(), 0)))
        return snapshot

    async def _await_refresh(
        self, corpus_id: str, entry: _Entry, old: GraphSnapshot, *, patience: float
    ) -> GraphSnapshot:
        """Returns the refreshed snapshot, or `old` if the refresh takes longer than `patience`; a failed refresh
        raises.
        """
        refresh = self._refresh(corpus_id, entry)
        if patience > 0:
            await asyncio.wait([refresh], timeout=patience)
        return refresh.result() if refresh.done() else old

    def _refresh(self, corpus_id: str, entry: _Entry) -> asyncio.Task[GraphSnapshot]:
        """Returns the running refresh, or starts a refresh."""
        if entry.refresh is None:
            entry.begun = time.monotonic()
            entry.refresh = asyncio.create_task(self._follow(corpus_id, entry))
            entry.refresh.add_done_callback(lambda done: self._end_refresh(entry, done))
        return entry.refresh

    def _end_refresh(self, entry: _Entry, done: asyncio.Task[GraphSnapshot]) -> None:
        """Retrieves the error of a refresh without a waiting caller; the next question starts another refresh."""
        entry.refresh = None
        if not done.cancelled():
            done.exception()

    async def _follow(self, corpus_id: str, entry: _Entry) -> GraphSnapshot:
        started, entry.is_due = time.monotonic(), False
        old = entry.snapshot
        try:
            if old is None or await self._graph.generation(corpus_id) != old.generation:
                entry.snapshot = await self._read_snapshot(corpus_id, entry, old)
        except NotFound:
            await self.delete(corpus_id)
            raise
        entry.checked = started
        assert entry.snapshot is not None  # noqa: S101 - for the type checker: built above, or present before
        return entry.snapshot

    async def _read_snapshot(self, corpus_id: str, entry: _Entry, old: GraphSnapshot | None) -> GraphSnapshot:
        if old is not None and self._files is not None:
            later = await self._files.open_later(corpus_id, old.generation, entry.adopt)
            if later is not None:
                return later
        changes = None if old is None else await self._graph.changes(corpus_id, old.generation)
        if old is not None and changes is not None and entry.is_intact():
            snapshot = await asyncio.to_thread(follow, old, changes)
            self._keep(corpus_id, entry, snapshot, changes)
            return snapshot
        if self._files is None:
            return await self._build(corpus_id, entry)
        mapped = await self._files.open(corpus_id, entry.adopt)
        if mapped is None and self._write_apart is not None and await self._write_apart(corpus_id):
            mapped = await self._files.open(corpus_id, entry.adopt)
        if mapped is not None:
            return mapped
        async with self._files.building(corpus_id):
            mapped = await self._files.open(corpus_id, entry.adopt)  # another process may have written it meanwhile
            return mapped or await self._build(corpus_id, entry)

    async def _build(self, corpus_id: str, entry: _Entry) -> GraphSnapshot:
        generation, rows = await self._graph.graph(corpus_id)
        snapshot = await asyncio.to_thread(build_snapshot, generation, rows)
        self._keep(corpus_id, entry, snapshot, None)
        return snapshot

    def _keep(self, corpus_id: str, entry: _Entry, snapshot: GraphSnapshot, changes: GraphChanges | None) -> None:
        if self._files is not None and self._corpora.get(corpus_id) is entry:
            self._files.keep(corpus_id, snapshot, changes, entry.adopt)
