"""Snapshots follow the record: not too often, one build at a time, and the old one is served meanwhile."""

import asyncio

import pytest

from core.errors import Unavailable
from core.ports.record.graph import GraphChanges, GraphChunk, GraphRows, graph_rows
from core.trace import Trace
from retrieval import SnapshotCache

EMPTY = graph_rows()


class Source:
    """A graph source whose answers can be held back; every generation is one more chunk."""

    def __init__(self) -> None:
        self.now = 1
        self.known_since = 0
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self.failing = False

    async def generation(self, corpus_id: str) -> int:
        self.asked.append("generation")
        if self.failing:
            raise Unavailable("the record cannot be reached; try again")
        return self.now

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        self.asked.append("graph")
        await self.open.wait()
        if self.failing:
            raise Unavailable("the record cannot be reached; try again")
        return self.now, self._rows(0)

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        self.asked.append("changes")
        await self.open.wait()
        if since < self.known_since:
            return None
        return GraphChanges(generation=self.now, removed=(), added=self._rows(since))

    def _rows(self, since: int) -> GraphRows:
        chunks = [GraphChunk(f"c{i}", "d", f"v{i}", 0, "", b"") for i in range(since, self.now)]
        return graph_rows(chunks=chunks)


@pytest.fixture
def source() -> Source:
    return Source()


async def test_a_first_question_builds_once_for_all_who_wait(source: Source) -> None:
    cache = SnapshotCache(source)
    source.open.clear()
    waiting = [asyncio.create_task(cache.get("c")) for _ in range(5)]
    await asyncio.sleep(0)
    source.open.set()
    snapshots = await asyncio.gather(*waiting)
    assert all(one is snapshots[0] for one in snapshots)
    assert source.asked.count("graph") == 1


async def test_within_the_interval_nothing_is_asked(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600)
    first = await cache.get("c")
    source.now = 2
    assert await cache.get("c") is first
    assert source.asked == ["graph"]


async def test_what_is_compared_again_has_the_age_of_the_last_comparison(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600, patience=60)
    first = await cache.get("c")
    cache.compare_again("c")
    assert cache.describe().age_seconds < 3600
    assert await cache.get("c") is first
    assert await cache.get("c") is first
    assert source.asked == ["graph", "generation"]


async def test_changes_are_applied_and_an_equal_generation_costs_no_reading(source: Source) -> None:
    cache = SnapshotCache(source, interval=0, patience=60)
    first = await cache.get("c")
    assert await cache.get("c") is first
    source.now = 3
    later = await cache.get("c")
    assert (later.generation, later.whole.chunks) == (3, 3)
    assert source.asked == ["graph", "generation", "generation", "changes"]


async def test_who_is_too_far_behind_is_rebuilt(source: Source) -> None:
    cache = SnapshotCache(source, interval=0, patience=60)
    await cache.get("c")
    source.now, source.known_since = 9, 5
    assert (await cache.get("c")).whole.chunks == 9
    assert source.asked.count("graph") == 2


async def test_the_old_one_is_served_while_a_refresh_runs(source: Source) -> None:
    cache = SnapshotCache(source, interval=0, patience=0.01)
    first = await cache.get("c")
    source.now = 2
    source.open.clear()
    assert await cache.get("c") is first
    assert await cache.get("c") is first
    assert source.asked.count("changes") == 1
    source.open.set()
    assert (await cache.get("c", min_generation=2)).generation == 2


async def test_one_without_passages_is_not_served_while_a_refresh_runs(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600, patience=0.01)
    source.now = 0
    assert (await cache.get("c")).whole.passages == 0
    source.now = 2
    source.open.clear()
    asked = asyncio.create_task(cache.get("c"))
    await asyncio.sleep(0.05)
    assert not asked.done()
    source.open.set()
    assert (await asked).whole.passages == 2


async def test_a_generation_that_does_not_come_in_time_is_noted(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600, patience=60, wait_seconds=0.05)
    trace = Trace()
    assert (await cache.get("c", min_generation=7, trace=trace)).generation == 1
    assert len(trace.notes) == 1
    assert trace.notes[0].startswith("stale")


async def test_a_generation_that_comes_is_waited_for(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600, wait_seconds=60)
    await cache.get("c")
    waiting = asyncio.create_task(cache.get("c", min_generation=4))
    await asyncio.sleep(0)
    source.now = 4
    assert (await waiting).generation == 4


async def test_a_failure_is_raised_and_the_next_question_tries_again(source: Source) -> None:
    cache = SnapshotCache(source, interval=0, patience=60)
    source.failing = True
    with pytest.raises(Unavailable):
        await cache.get("c")
    source.failing = False
    assert (await cache.get("c")).generation == 1


async def test_who_stops_waiting_does_not_stop_the_build(source: Source) -> None:
    cache = SnapshotCache(source)
    source.open.clear()
    impatient = asyncio.create_task(cache.get("c"))
    await asyncio.sleep(0)
    patient = asyncio.create_task(cache.get("c"))
    await asyncio.sleep(0)
    impatient.cancel()
    source.open.set()
    assert (await patient).generation == 1


async def test_corpora_are_apart_and_the_oldest_makes_room(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600, capacity=2)
    first = await cache.get("a")
    assert await cache.get("b") is not first
    await cache.get("c")
    assert await cache.get("a") is not first


async def test_a_forgotten_corpus_is_read_again(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600)
    first = await cache.get("c")
    cache.evict("c")
    cache.evict("unknown")
    assert await cache.get("c") is not first


async def test_following_does_not_wait_for_the_interval(source: Source) -> None:
    cache = SnapshotCache(source, interval=3600)
    first = await cache.get("c")
    assert await cache.is_current("c", first)
    assert await cache.follow("c", first) is None
    source.now = 2
    assert not await cache.is_current("c", first)
    followed = await asyncio.gather(*(cache.follow("c", first) for _ in range(5)))
    assert {one.generation for one in followed if one is not None} == {2}
    assert source.asked.count("changes") == 1
    latest = await cache.get("c")
    assert all(one is latest for one in followed)
    assert await cache.follow("c", latest) is None


class SlowSource(Source):
    """Answers with the generation at which it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = asyncio.Event()

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        changes = GraphChanges(generation=self.now, removed=(), added=self._rows(since))
        self.reading.set()
        await self.open.wait()
        return changes


async def test_a_refresh_that_began_before_the_generation_is_followed_by_another() -> None:
    source = SlowSource()
    cache = SnapshotCache(source, interval=3600, wait_seconds=60)
    first = await cache.get("c")
    source.now = 2
    source.open.clear()
    following = [asyncio.create_task(cache.follow("c", first))]
    await source.reading.wait()
    source.now = 3
    following.append(asyncio.create_task(cache.follow("c", first)))
    await asyncio.sleep(0)
    source.open.set()
    assert [one and one.generation for one in await asyncio.gather(*following)] == [2, 3]


async def test_followers_of_a_long_refresh_do_not_each_wait(source: Source) -> None:
    """The first waits for as long as `wait_seconds`; those that come later do not wait."""
    cache = SnapshotCache(source, interval=3600, wait_seconds=0.05)
    first = await cache.get("c")
    source.now = 2
    source.open.clear()
    assert await cache.follow("c", first) is None
    again = asyncio.create_task(cache.follow("c", first))
    for _ in range(5):
        await asyncio.sleep(0)
    assert again.done()
    assert again.result() is None
    source.open.set()
    latest = await cache.get("c")
    assert latest.generation == 2
    assert await cache.follow("c", first) is latest
    assert source.asked.count("changes") == 1
