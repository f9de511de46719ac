"""Snapshots by corpus, kept up to date with the record in the background."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

from core.ports.record import GraphSource
from core.trace import Trace
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot

__all__ = ["SnapshotCache"]

_POLL_SECONDS = 0.05


@dataclass
class _Followed:
    """One corpus: what is served, when it was last compared with the record, and the refresh that runs."""

    snapshot: GraphSnapshot | None = None
    checked: float = float("-inf")
    refresh: asyncio.Task[GraphSnapshot] | None = None
    begun: float = 0.0


class SnapshotCache:
    """Serves each corpus' snapshot; compares it with the record at most every `interval` seconds.

    A refresh that takes longer than `patience` goes on in the background, and the old snapshot is served meanwhile.
    There is one refresh at a time per corpus, and the corpora that were asked last are kept (`capacity` of them).
    """

    def __init__(
        self,
        graph: GraphSource,
        *,
        interval: float = 2.0,
        patience: float = 0.2,
        wait_seconds: float = 2.0,
        capacity: int = 64,
    ) -> None:
        self._graph = graph
        self._interval = interval
        self._patience = patience
        self._wait_seconds = wait_seconds
        self._capacity = capacity
        self._corpora: OrderedDict[str, _Followed] = OrderedDict()

    async def get(
        self, corpus_id: str, *, min_generation: int | None = None, trace: Trace | None = None
    ) -> GraphSnapshot:
        """The corpus' snapshot, of at least `min_generation` if that can be had in time; else `trace` notes `stale`."""
        followed = self._followed(corpus_id)
        snapshot = await self._current(corpus_id, followed)
        wanted = min_generation if min_generation is not None else 0
        deadline = time.monotonic() + self._wait_seconds
        while snapshot.generation < wanted and (left := deadline - time.monotonic()) > 0:
            snapshot = await self._refreshed(corpus_id, followed, snapshot, patience=left)
            if snapshot.generation < wanted:
                await asyncio.sleep(min(_POLL_SECONDS, max(deadline - time.monotonic(), 0)))
        if snapshot.generation < wanted and trace is not None:
            trace.note(f"stale: the graph is at generation {snapshot.generation}, {wanted} was asked for")
        return snapshot

    def forget(self, corpus_id: str) -> None:
        """Free a corpus' snapshot, as when the corpus is dropped."""
        self._corpora.pop(corpus_id, None)

    def _followed(self, corpus_id: str) -> _Followed:
        followed = self._corpora.setdefault(corpus_id, _Followed())
        self._corpora.move_to_end(corpus_id)
        while len(self._corpora) > self._capacity:
            self.forget(next(iter(self._corpora)))
        return followed

    async def _current(self, corpus_id: str, followed: _Followed) -> GraphSnapshot:
        old = followed.snapshot
        if old is None:
            return await asyncio.shield(self._refresh(corpus_id, followed))
        now = time.monotonic()
        if followed.refresh is None and now - followed.checked < self._interval:
            return old
        begun = now if followed.refresh is None else followed.begun
        return await self._refreshed(corpus_id, followed, old, patience=begun + self._patience - now)

    async def _refreshed(
        self, corpus_id: str, followed: _Followed, old: GraphSnapshot, *, patience: float
    ) -> GraphSnapshot:
        """The refreshed snapshot, or `old` where that takes longer than `patience`; a failed refresh raises."""
        refresh = self._refresh(corpus_id, followed)
        if patience > 0:
            await asyncio.wait([refresh], timeout=patience)
        return refresh.result() if refresh.done() else old

    def _refresh(self, corpus_id: str, followed: _Followed) -> asyncio.Task[GraphSnapshot]:
        """The refresh that runs, or a new one."""
        if followed.refresh is None:
            followed.begun = time.monotonic()
            followed.refresh = asyncio.create_task(self._follow(corpus_id, followed))
            followed.refresh.add_done_callback(lambda done: self._settle(followed, done))
        return followed.refresh

    def _settle(self, followed: _Followed, done: asyncio.Task[GraphSnapshot]) -> None:
        """A refresh that failed after everybody had stopped waiting is simply tried again by the next question."""
        followed.refresh = None
        if not done.cancelled():
            done.exception()

    async def _follow(self, corpus_id: str, followed: _Followed) -> GraphSnapshot:
        started = time.monotonic()
        old = followed.snapshot
        if old is None or await self._graph.generation(corpus_id) != old.generation:
            followed.snapshot = await self._build(corpus_id, old)
        followed.checked = started
        assert followed.snapshot is not None  # noqa: S101 - for the type checker: built above or there before
        return followed.snapshot

    async def _build(self, corpus_id: str, old: GraphSnapshot | None) -> GraphSnapshot:
        if old is not None:
            changes = await self._graph.changes(corpus_id, old.generation)
            if changes is not None:
                return await asyncio.to_thread(old.apply, changes)
        generation, rows = await self._graph.graph(corpus_id)
        return await asyncio.to_thread(build_snapshot, generation, rows)
