"""Snapshots in files beside a real record: the same results, by several processes, whatever becomes of the files."""

import asyncio
import logging
import random
import resource
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import NotFound
from core.ids import document_id, entity_id
from core.ports.record import GraphChanges, GraphRows, GraphSource
from core.ports.retrieval import SearchResult
from core.strategies import StrategySpec, build
from core.trace import Trace
from retrieval import SEARCHERS, SnapshotCache, SnapshotFiles
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot
from retrieval.graph.snapshot_files import FilePolicy
from retrieval.graph.snapshot_folder import SnapshotFolder
from retrieval.graph.snapshot_format import encode_snapshot, is_mapped
from testing.contracts.searcher import PASSAGES, QUESTION
from testing.indexed_corpus import Passage
from tests.integration.retrieval.snapshot_writer import (
    CHUNKS,
    compacted,
    kill_compaction,
    rows_of,
    snapshot_follower,
    snapshot_writer,
)
from tests.searching import AT_ONCE, World, open_world
from tests.unit.retrieval.test_snapshot import parts

SEARCHING = ["bridged", "dense", "fused", "graph", "sparse"]
CORPUS_ID = "abcdef0123456789"


class CountedSource:
    """A graph source that counts how often it is read as a whole, and keeps since when changes were asked for."""

    def __init__(self, source: GraphSource) -> None:
        self._source = source
        self.wholes = 0
        self.since: list[int] = []

    async def generation(self, corpus_id: str) -> int:
        return await self._source.generation(corpus_id)

    async def graph(self, corpus_id: str) -> tuple[int, GraphRows]:
        self.wholes += 1
        return await self._source.graph(corpus_id)

    async def changes(self, corpus_id: str, since: int) -> GraphChanges | None:
        self.since.append(since)
        return await self._source.changes(corpus_id, since)

    async def count_changes(self, corpus_id: str, since: int) -> int:
        return await self._source.count_changes(corpus_id, since)


class Process:
    """What one process holds of the snapshots of a world. Several in one test are as separate as in truth, for they
    meet in the folder only.
    """

    def __init__(self, world: World, folder: Path, policy: FilePolicy = AT_ONCE) -> None:
        self._world = world
        self.source = CountedSource(world.record.graph)
        self.files = SnapshotFiles(self.source, folder, policy)
        self.cache = SnapshotCache(self.source, files=self.files, interval=0, patience=60)

    async def get(self) -> GraphSnapshot:
        return await self.cache.get(self._world.corpus.id)

    async def get_mapped(self) -> GraphSnapshot:
        """Waits until the snapshot is that of the file."""
        snapshot = await self.get()
        while not is_mapped(snapshot.whole.adjacency.degree):
            await asyncio.sleep(0.005)
            snapshot = await self.get()
        return snapshot

    async def search(self, searcher: str, documents: frozenset[str] | None = None) -> SearchResult:
        backends = replace(self._world.backends, snapshots=self.cache)
        found = build(SEARCHERS, StrategySpec(name=searcher, options={}), "searcher", backends)
        return await found.search(self._world.query(QUESTION, k=10, documents=documents), Trace())


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path / "data", asserting=True) as world:
        more = [
            Passage(key=f"more {n}", title=f"Place {n}", text=f"Visitor Number{n} met Guest{n % 7} in Place {n % 9}.")
            for n in range(60)
        ]
        await world.put([*PASSAGES, *more], [("guest1", "guest2", 0.9)])
        await world.record.merges.merge(world.corpus.id, entity_id("guest3"), entity_id("guest4"))
        yield world


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "snapshots"


def file_of(world: World, folder: Path) -> Path:
    return SnapshotFolder(folder).path_of(world.corpus.id)


def generation_in(folder: Path, corpus_id: str) -> int:
    """The generation of the snapshot that is in the folder."""
    described = SnapshotFolder(folder).describe(corpus_id)
    assert described is not None
    return described.generation


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("*")]


def content_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_the_next_process_maps_the_file_and_finds_the_same(world: World, folder: Path) -> None:
    first, second = Process(world, folder), Process(world, folder)
    built = await first.get()
    assert not is_mapped(built.whole.adjacency.degree)
    await first.cache.close()
    mapped = await second.get()
    assert is_mapped(mapped.whole.adjacency.degree)
    assert second.source.wholes == 0
    assert parts(mapped) == parts(built)
    alone = frozenset(document_id(f"more {n}") for n in range(0, 60, 2))
    for searcher in SEARCHING:
        for documents in (None, alone):
            assert await second.search(searcher, documents) == await first.search(searcher, documents)
    await second.cache.close()


async def test_a_process_takes_the_file_that_it_has_written_itself(world: World, folder: Path) -> None:
    process = Process(world, folder)
    built = await process.get()
    mapped = await process.get_mapped()
    assert parts(mapped) == parts(built)
    held = process.cache.describe()
    assert held.mapped_bytes > held.bytes
    await process.cache.close()


async def test_a_process_that_is_behind_takes_the_later_file_of_another(world: World, folder: Path) -> None:
    behind, other = Process(world, folder), Process(world, folder)
    old = await behind.get_mapped()
    await world.put([Passage(key=f"later {n}", title="Later", text=f"Guest{n} came later.") for n in range(20)])
    written = await other.get()
    await other.cache.close()
    assert written.generation > old.generation
    behind.source.since.clear()
    now = await behind.get()
    assert parts(now) == parts(written)
    assert is_mapped(now.whole.adjacency.degree)
    assert behind.source.since == [written.generation]
    await behind.cache.close()


async def test_processes_that_start_together_build_once(world: World, folder: Path) -> None:
    processes = [Process(world, folder) for _ in range(3)]
    snapshots = await asyncio.gather(*(process.get() for process in processes))
    assert sorted(process.source.wholes for process in processes) == [0, 0, 1]
    assert sorted(is_mapped(snapshot.flat().columns.chunk_ids) for snapshot in snapshots) == [False, True, True]
    await asyncio.gather(*(process.cache.close() for process in processes))
    assert names_in(folder) == [file_of(world, folder).name]


async def test_who_builds_makes_others_wait(world: World, folder: Path) -> None:
    lock = SnapshotFolder(folder).try_build_lock(world.corpus.id)
    assert lock is not None
    assert SnapshotFolder(folder).try_build_lock(world.corpus.id) is None
    process = Process(world, folder)
    waiting = asyncio.create_task(process.get())
    await asyncio.sleep(0.1)
    assert (waiting.done(), process.source.wholes) == (False, 0)
    lock.release()
    lock.release()
    await waiting
    assert process.source.wholes == 1
    await process.cache.close()


def test_who_ends_does_not_wait_for_another_writer(tmp_path: Path) -> None:
    files, ending = SnapshotFolder(tmp_path), threading.Event()
    content = encode_snapshot(CORPUS_ID, build_snapshot(1, rows_of(1)))
    ending.set()
    with files._locked(threading.Event()), pytest.raises(TimeoutError):
        files.write(content, ending)
    assert files.write(content, ending)


async def test_what_killed_processes_left_is_deleted(world: World, folder: Path) -> None:
    first, second = Process(world, folder), Process(world, folder)
    await first.get()
    await first.cache.close()
    path = file_of(world, folder)
    for suffix in (".graph.unfinished", ".building"):
        path.with_suffix(suffix).write_bytes(b"half")
    assert await second.cache.clean() == []
    assert names_in(folder) == [path.name]


async def test_an_older_file_is_brought_up_to_date(world: World, folder: Path) -> None:
    first = Process(world, folder)
    await first.get()
    await first.cache.close()
    await world.put([Passage(key="more 1", title="Elsewhere", text="Guest9 met Ada in Elsewhere.")])
    await world.remove(["more 2", "more 3"])
    await world.record.merges.merge(world.corpus.id, entity_id("guest5"), entity_id("guest6"))
    never = FilePolicy(least_chunks=0, changed_share=1, idle_seconds=3600)
    second, third = Process(world, folder, never), Process(world, folder / "other")
    followed, built = await second.get(), await third.get()
    assert (second.source.wholes, third.source.wholes) == (0, 1)
    assert parts(followed) == parts(built)
    for searcher in SEARCHING:
        assert await second.search(searcher) == await third.search(searcher)
    await second.cache.close()  # writes what was waiting
    fourth = Process(world, folder)
    assert is_mapped((await fourth.get()).whole.adjacency.degree)
    assert parts(await fourth.get()) == parts(built)
    await asyncio.gather(third.cache.close(), fourth.cache.close())


async def test_a_file_that_the_change_log_does_not_reach_is_replaced(world: World, folder: Path) -> None:
    first = Process(world, folder)
    snapshot = await first.get()
    await first.cache.close()
    content = encode_snapshot(world.corpus.id, replace(snapshot.flat(), generation=snapshot.generation + 5))
    assert SnapshotFolder(folder).write(content), "as after the record was restored from an older copy"
    second = Process(world, folder)
    assert (await second.get()).generation == snapshot.generation
    assert second.source.wholes == 1
    await second.cache.close()
    assert generation_in(folder, world.corpus.id) == snapshot.generation


@pytest.mark.parametrize("damage", ["flipped header", "truncated", "empty", "foreign", "folder"])
async def test_a_damaged_file_is_built_again_told_once_and_replaced(
    world: World, folder: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    first = Process(world, folder)
    built = await first.get()
    await first.cache.close()
    path = file_of(world, folder)
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        flipped = bytearray(whole)
        flipped[100] ^= 1
        contents = {
            "flipped header": bytes(flipped),
            "truncated": whole[:-100],
            "empty": b"",
            "foreign": b"PK\3\4" * 100,
        }
        path.write_bytes(contents[damage])
    caplog.clear()
    with caplog.at_level(logging.INFO, "hopweave"):
        second = Process(world, folder)
        assert parts(await second.get()) == parts(built)
        await second.cache.close()
    assert second.source.wholes == 1
    told = [record.message for record in caplog.records if str(path) in record.message]
    assert len(told) == 1
    assert damage == "folder" or path.read_bytes() == whole


@pytest.fixture
def occupied(tmp_path: Path) -> Path:
    """A file of the user in the place of the folder: it cannot be made, even by root."""
    path = tmp_path / "snapshots"
    path.write_text("a file of the user", "utf-8")
    return path


async def test_a_folder_that_cannot_be_written_is_told_once(
    world: World, occupied: Path, caplog: pytest.LogCaptureFixture
) -> None:
    process = Process(world, occupied)
    for n in range(3):
        assert (await process.search("bridged")).hits
        await world.put([Passage(key="changing", title="Changing", text=f"This is version {n}.")])
        await asyncio.sleep(0.05)
    await process.cache.close()
    told = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len([line for line in told if "HOPWEAVE_STORE__MAPPED_SNAPSHOTS=false" in line]) == 1
    assert all(str(occupied) in line for line in told)
    assert len(told) == 1


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    files = SnapshotFolder(tmp_path)
    content = encode_snapshot(CORPUS_ID, build_snapshot(1, rows_of(1)))
    assert files.write(content)
    with file_size_limit(20_000), pytest.raises(OSError, match="File too large"):
        files.write(replace(content, generation=2))
    assert generation_in(tmp_path, CORPUS_ID) == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"{CORPUS_ID}.graph"]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Python ignores SIGXFSZ, so writing beyond the limit is an error as a full disk is."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_the_file_of_a_deleted_corpus_is_deleted_by_whoever_notices(world: World, folder: Path) -> None:
    deleting, other = Process(world, folder), Process(world, folder)
    await deleting.get_mapped()
    await other.get_mapped()
    await world.record.corpora.delete("world")
    await deleting.cache.delete(world.corpus.id)
    await world.record.maintenance.delete_corpus_rows(world.corpus.id)
    assert names_in(folder) == []
    snapshot = build_snapshot(99, rows_of(1))
    assert SnapshotFolder(folder).write(encode_snapshot(world.corpus.id, snapshot)), "written by a process that lags"
    with pytest.raises(NotFound):
        await other.get()
    assert names_in(folder) == []
    assert SnapshotFolder(folder).write(encode_snapshot(world.corpus.id, snapshot))
    assert await other.cache.clean() == [world.corpus.id]
    assert names_in(folder) == []
    await asyncio.gather(deleting.cache.close(), other.cache.close())


async def test_a_small_corpus_has_no_file_and_one_that_shrinks_loses_it(world: World, folder: Path) -> None:
    small = Process(world, folder, replace(AT_ONCE, least_chunks=1_000))
    await small.get()
    await small.cache.close()
    assert names_in(folder) == []
    least = Process(world, folder, replace(AT_ONCE, least_chunks=60))
    await least.get_mapped()
    await world.remove([f"more {n}" for n in range(30)])
    await least.get()
    await least.cache.close()
    assert names_in(folder) == []


async def test_nothing_of_a_deleted_document_is_in_the_folder(world: World, folder: Path) -> None:
    process = Process(world, folder)
    await world.put(
        [Passage(key="secret", title="Xanthippe", text="Xanthippe hid the Quetzalcoatl beside Ouagadougou.")]
    )
    await process.get_mapped()
    await world.remove(["secret"])
    await process.get_mapped()
    await process.cache.close()
    content = content_of(folder).lower()
    assert content
    for word in (b"xanthippe", b"quetzalcoatl", b"ouagadougou", b"met guest"):
        assert word not in content
    assert generation_in(folder, world.corpus.id) == await world.record.graph.generation(world.corpus.id)


def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    files, chosen, written = SnapshotFolder(tmp_path), random.Random(5), -1
    for _ in range(5):
        with snapshot_writer(tmp_path, CORPUS_ID, written + 1) as writer:
            written = writer.await_written()
            time.sleep(chosen.random() * 0.05)
            writer.kill()
        content = files.read(CORPUS_ID)
        assert content is not None
        assert content.generation >= written
        assert len(content.arrays["chunk_ids"]) == CHUNKS + content.generation % 7
        written = content.generation
    files.delete_leftovers()
    assert [path.name for path in tmp_path.iterdir()] == [f"{CORPUS_ID}.graph"]


@pytest.mark.parametrize("blocks", [0, 20])
def test_a_process_that_is_killed_while_it_compacts_leaves_the_file_that_was_there(tmp_path: Path, blocks: int) -> None:
    files = SnapshotFolder(tmp_path)
    assert files.write(encode_snapshot(CORPUS_ID, build_snapshot(1, rows_of(1), spare=8)))
    path = files.path_of(CORPUS_ID)
    before = path.read_bytes()
    for _ in range(2):
        assert kill_compaction(tmp_path, CORPUS_ID, blocks) == -signal.SIGKILL
        assert path.read_bytes() == before
        assert len(names_in(tmp_path)) == 2, "what it has written so far"
    files.delete_leftovers()
    assert names_in(tmp_path) == [path.name]
    assert kill_compaction(tmp_path, CORPUS_ID, blocks) == -signal.SIGKILL
    assert files.write(compacted(tmp_path, CORPUS_ID))
    assert names_in(tmp_path) == [path.name]
    content = files.read(CORPUS_ID, check=True)
    assert content is not None
    assert (content.generation, len(content.arrays["chunk_ids"])) == (2, CHUNKS + 1)


def test_processes_that_write_at_once_do_not_disturb_readers(tmp_path: Path) -> None:
    files = SnapshotFolder(tmp_path)
    with snapshot_writer(tmp_path, CORPUS_ID, 0, 2) as one, snapshot_writer(tmp_path, CORPUS_ID, 1, 2) as other:
        last = max(one.await_written(), other.await_written())
        for _ in range(20):
            written = max(one.await_written(), other.await_written())
            content = files.read(CORPUS_ID)
            assert content is not None
            assert content.generation >= max(last, written - 1)
            assert len(content.arrays["chunk_ids"]) == CHUNKS + content.generation % 7
            last = content.generation


async def test_a_repair_reads_whole_files_and_deletes_a_damaged_one(world: World, folder: Path) -> None:
    process = Process(world, folder)
    await process.get()
    await process.cache.close()
    path = file_of(world, folder)
    assert await process.cache.clean(outdated=True) == []
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) * 3 // 4] ^= 1
    path.write_bytes(damaged)
    assert await process.cache.clean() == [], "opening does not read the arrays"
    assert await process.cache.clean(outdated=True) == [world.corpus.id]
    assert names_in(folder) == []


async def test_a_process_that_ends_does_not_copy_all_rows_for_a_few_changes(world: World, folder: Path) -> None:
    seldom = FilePolicy(least_chunks=0, changed_share=1, idle_share=1)
    first, second = Process(world, folder), Process(world, folder, seldom)
    built = await first.get()
    await first.cache.close()
    await world.put([Passage(key="one more", title="Elsewhere", text="Guest9 met Ada in Elsewhere.")])
    assert (await second.get()).generation > built.generation
    await second.cache.close()
    assert generation_in(folder, world.corpus.id) == built.generation
    third = Process(world, folder, seldom)
    await third.get()
    await world.remove(["one more"])
    latest = await third.get()
    await third.cache.close()
    assert generation_in(folder, world.corpus.id) == latest.generation, (
        "what is deleted leaves the file with the process"
    )


async def test_a_killed_follower_leaves_what_the_next_process_answers_from(tmp_path: Path) -> None:
    """It is killed while it lays changes over the file, and while it writes the two as one."""
    chosen = random.Random(3)
    async with open_world(tmp_path / "data", asserting=True) as world:
        await world.put(
            [
                Passage(key=f"p{n}", title=f"Place {n}", text=f"Guest{n % 7} met Ada in Place {n % 9}.")
                for n in range(80)
            ]
        )
        folder = tmp_path / "data" / "snapshots"
        first = Process(world, folder)
        await first.get()
        await first.cache.close()
        for n in range(4):
            with snapshot_follower(tmp_path / "data" / "record.sqlite", folder, world.corpus.id) as follower:
                follower.await_written()
                await world.put([Passage(key=f"p{n}", title="Elsewhere", text=f"Bob{n} met Ada in Elsewhere.")])
                await world.remove([f"p{n + 20}"])
                await asyncio.sleep(chosen.random() * 0.1)
                follower.kill()
            next_one, anew = Process(world, folder), Process(world, tmp_path / f"other {n}")
            assert (await next_one.get()).generation == (await anew.get()).generation
            assert next_one.source.wholes == 0
            assert parts((await next_one.get()).flat()) == parts((await anew.get()).flat())
            for searcher in SEARCHING:
                assert await next_one.search(searcher) == await anew.search(searcher)
            await asyncio.gather(next_one.cache.close(), anew.cache.close())
