"""Vectors over mapped files: the same answers as from memory, whatever happens to the files."""

import asyncio
import errno
import json
import logging
import os
import shutil
import sqlite3
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.execution.jit import JitFunction
from core.ids import new_id
from core.ports.views import Scored, VectorKind
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from stores.sqlite.vectors.mapped import bases, sign_kernels, signs
from stores.sqlite.vectors.mapped.base import VectorBase
from stores.sqlite.vectors.mapped.bases import BaseFolder
from testing.contracts.vector_store import batch, names, unit_vectors

CHUNK = VectorKind.CHUNK
EAGER = BasePolicy(exact_rows=0, least_rows=0, share=0, deleted_seconds=-1, poll_seconds=3600)
"""Every collection has a file. It is written again by `look_at_files` alone, after any deletion and any addition."""

Operation = tuple[str, list[int], int]
_IDS = st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True)
_OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["write", "delete", "look", "reopen", "search", "forget"]), _IDS, st.integers(0, 9999)),
    max_size=25,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.db"


@pytest.fixture
def written(path: Path) -> tuple[str, Path]:
    """A corpus of 300 vectors, and its file."""
    corpus = new_id()

    async def write() -> None:
        store = SqliteVectorStore(path, policy=EAGER)
        documents = [f"d{i % 7}" for i in range(300)]
        await store.write(corpus, CHUNK, batch(names(300), unit_vectors(300), documents))
        await store.search(corpus, CHUNK, unit_vectors(1)[0], 1)
        await store.close()

    asyncio.run(write())
    [file] = path.with_suffix("").glob("*.base")
    return corpus, file


def _with_room(state: os.statvfs_result, size: int) -> os.statvfs_result:
    """Returns the state of a disk with so many bytes free."""
    fields = list(state)
    fields[4] = size // state.f_frsize
    return os.statvfs_result(fields)


async def _search_all(store: SqliteVectorStore, corpus: str) -> list[list[Scored]]:
    query = unit_vectors(1, seed=77)[0]
    found = [await store.search(corpus, CHUNK, query, k, documents) for k in (3, 100) for documents in (None, ["d1"])]
    return found + await store.within(corpus, CHUNK, unit_vectors(3, seed=5), 0.3)


@settings(
    max_examples=settings.default.max_examples * 2 // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(operations=_OPERATIONS)
def test_any_history_gives_the_answers_of_a_store_in_memory(
    tmp_path_factory: pytest.TempPathFactory, operations: list[Operation]
):
    asyncio.run(_compare(tmp_path_factory.mktemp("history"), operations))


async def _compare(folder: Path, operations: list[Operation]) -> None:
    corpus = new_id()
    exact = SqliteVectorStore(folder / "exact.db")
    mapped = SqliteVectorStore(folder / "mapped.db", policy=EAGER)
    other = SqliteVectorStore(folder / "mapped.db", policy=EAGER, keep_removals_seconds=0)
    for operation, numbers, seed in operations:
        ids, documents = [f"v{n}" for n in numbers], [f"d{n % 3}" for n in numbers]
        match operation:
            case "write":
                rows = batch(ids, unit_vectors(len(ids), seed=seed), documents)
                await exact.write(corpus, CHUNK, rows)
                await mapped.write(corpus, CHUNK, rows)
            case "delete":
                await exact.delete(corpus, CHUNK, ids)
                await mapped.delete(corpus, CHUNK, ids)
            case "forget":  # the list of deletions is cut, so that snapshots cannot follow it
                await exact.delete(corpus, CHUNK, ids)
                await other.delete(corpus, CHUNK, ids)
            case "look":
                await (mapped if seed % 2 else other).look_at_files()
            case "reopen":
                await mapped.close()
        expected = await _search_all(exact, corpus)
        assert await _search_all(mapped, corpus) == expected
        assert await _search_all(other, corpus) == expected
    for store in (exact, mapped, other):
        await store.close()


async def test_a_collection_beyond_the_limit_gets_a_file(path: Path):
    policy = BasePolicy(exact_rows=50, least_rows=10, poll_seconds=3600)
    store, corpus = SqliteVectorStore(path, policy=policy), new_id()
    await store.write(corpus, CHUNK, batch(names(50), unit_vectors(50)))
    await store.search(corpus, CHUNK, unit_vectors(1)[0], 1)
    await store.look_at_files()
    assert list(path.with_suffix("").glob("*.base")) == []
    await store.write(corpus, CHUNK, batch(names(51), unit_vectors(51)))
    await store.look_at_files()
    [file] = path.with_suffix("").glob("*.base")
    assert len(VectorBase.open(file)) == 51
    assert file.stat().st_mode & 0o777 == 0o600
    await store.write(corpus, CHUNK, batch(names(60), unit_vectors(60)))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 60
    await store.write(corpus, CHUNK, batch(names(9, "w"), unit_vectors(9, seed=3)))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 60  # few rows beyond a file do not make it be written again
    assert len(await store.search(corpus, CHUNK, unit_vectors(1)[0], 100)) == 69
    await store.close()


async def test_fewer_rows_are_enough_when_no_more_come(path: Path):
    quiet = {"quiet_share": 0.02, "quiet_seconds": 0.0}
    store, corpus = SqliteVectorStore(path, policy=replace(EAGER, share=0.5, **quiet)), new_id()
    await store.write(corpus, CHUNK, batch(names(100), unit_vectors(100)))
    await store.look_at_files()
    [file] = path.with_suffix("").glob("*.base")
    await store.write(corpus, CHUNK, batch(names(2, "w"), unit_vectors(2, seed=1)))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 100
    await store.write(corpus, CHUNK, batch(names(1, "x"), unit_vectors(1, seed=2)))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 103
    await store.close()
    store = SqliteVectorStore(path, policy=replace(EAGER, share=0.5, quiet_share=0.02))
    await store.write(corpus, CHUNK, batch(names(50, "y"), unit_vectors(50, seed=3)))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 103  # it was written to just now
    await store.close()


async def test_the_file_is_kept_up_to_date_without_a_search(path: Path):
    """By the process that writes, as a worker does."""
    store = SqliteVectorStore(path, policy=BasePolicy(exact_rows=10, least_rows=0, poll_seconds=0.01))
    corpus = new_id()
    await store.write(corpus, CHUNK, batch(names(30), unit_vectors(30)))

    async def has_rows(count: int) -> None:
        deadline = time.monotonic() + 120
        while [len(VectorBase.open(file)) for file in path.with_suffix("").glob("*.base")] != [count]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    await has_rows(30)
    await store.write(corpus, CHUNK, batch(names(80), unit_vectors(80)))
    await has_rows(80)
    await store.close()


async def test_deleted_vectors_leave_the_file(written: tuple[str, Path], path: Path):
    corpus, file = written
    gone = unit_vectors(300)[17]
    assert gone.tobytes() in file.read_bytes()
    store = SqliteVectorStore(path, policy=EAGER)
    await store.delete(corpus, CHUNK, [names(300)[17]])
    await store.look_at_files()
    content = file.read_bytes()
    assert gone.tobytes() not in content
    assert names(300)[17].encode() not in content
    assert names(300)[18].encode() in content
    await store.close()


async def test_deletions_wait_for_their_time(written: tuple[str, Path], path: Path):
    corpus, file = written
    store = SqliteVectorStore(path, policy=BasePolicy(exact_rows=0, least_rows=10, deleted_seconds=3600))
    await store.delete(corpus, CHUNK, names(5))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 300
    assert await store.clean_files() == 1  # as `hopweave doctor --repair` does
    assert not file.exists()
    assert len(await store.search(corpus, CHUNK, unit_vectors(1)[0], 400)) == 295
    assert len(VectorBase.open(file)) == 295
    await store.close()


async def test_deletions_do_not_wait_for_a_clock_that_was_put_back(written: tuple[str, Path], path: Path):
    corpus, file = written
    store = SqliteVectorStore(path, policy=BasePolicy(exact_rows=0, poll_seconds=3600))
    await store.delete(corpus, CHUNK, names(3))
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 300
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE removals SET at = at + 1e6")
        db.commit()
    await store.look_at_files()
    assert len(VectorBase.open(file)) == 297
    await store.close()


async def test_what_a_killed_process_left_unfinished_is_deleted(written: tuple[str, Path], path: Path):
    corpus, file = written
    left = file.with_name("1.123-456.unfinished")
    left.write_bytes(unit_vectors(1).tobytes())
    await asyncio.to_thread(file.unlink)
    store = SqliteVectorStore(path, policy=BasePolicy(exact_rows=1000))
    await store.delete(corpus, CHUNK, names(1))
    await store.look_at_files()
    assert list(file.parent.glob("*.unfinished")) == []
    await store.close()


async def test_what_another_process_writes_is_not_deleted(written: tuple[str, Path], path: Path):
    _, file = written
    being_written = file.with_name("1.123-456.unfinished")
    being_written.touch()
    store = SqliteVectorStore(path, policy=BasePolicy(exact_rows=0, poll_seconds=3600))
    with BaseFolder(file.parent).locked(1, threading.Event(), wait=False) as held:
        assert held
        await store.look_at_files()
        assert being_written.exists()
    await store.close()


async def test_a_disk_with_little_room_is_not_filled(
    written: tuple[str, Path], path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    corpus, file = written
    store = SqliteVectorStore(path, policy=EAGER)
    expected = await _search_all(store, corpus)
    size = file.stat().st_size
    file.unlink()
    state = os.statvfs(path.parent)
    monkeypatch.setattr(os, "fstatvfs", lambda _: _with_room(state, size))
    monkeypatch.setattr(os, "pwrite", lambda *_: pytest.fail("something is written"))
    other = SqliteVectorStore(path, policy=EAGER)
    assert await _search_all(other, corpus) == expected
    assert "no space left on device" in caplog.text
    assert list(file.parent.glob("*.base")) == []
    await store.close()
    await other.close()


async def test_a_file_that_could_not_be_written_is_not_tried_at_each_look(
    written: tuple[str, Path], path: Path, monkeypatch: pytest.MonkeyPatch
):
    _, file = written
    file.unlink()
    tried: list[Path] = []

    def fail(_db: object, path: Path, *_: object) -> None:
        tried.append(path)
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(bases, "write_base", fail)
    for retry_seconds, times in ((3600.0, 1), (0.0, 3)):
        tried.clear()
        store = SqliteVectorStore(path, policy=replace(EAGER, retry_seconds=retry_seconds))
        for _ in range(3):
            await store.look_at_files()
        assert len(tried) == times
        await store.close()


async def test_the_files_of_a_deleted_corpus_are_deleted(written: tuple[str, Path], path: Path):
    corpus, file = written
    copy = shutil.copy(file, file.with_suffix(".copy"))
    store = SqliteVectorStore(path, policy=EAGER)
    await store.delete_corpus(corpus)
    assert list(file.parent.iterdir()) == [copy]
    copy.rename(file)  # by a process that was killed between deleting the rows and the file
    await store.look_at_files()
    assert not file.exists()
    await store.close()


def _truncate(content: bytes) -> bytes:
    return content[:-100]


def _damage_matrix(content: bytes) -> bytes:
    at = content.index(unit_vectors(300)[200].tobytes())
    return content[: at + 5] + bytes([content[at + 5] ^ 1]) + content[at + 6 :]


def _damage_ids(content: bytes) -> bytes:
    return content.replace(b"v00042", b"v99942")


def _change_version(content: bytes) -> bytes:
    return content.replace(b"vectors 1, ", b"vectors 0, ")


def _forge(content: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Changes the header of a file, with a checksum that fits."""
    start = struct.Struct("<8sII")
    magic, length, _ = start.unpack_from(content)
    header = json.loads(content[start.size : start.size + length])
    changed = change(header)
    encoded = json.dumps(header if changed is None else changed).encode()
    head = start.pack(magic, len(encoded), zlib.crc32(encoded)) + encoded
    return head + content[len(head) :]


def _set(name: str, **fields: object) -> Callable[[dict[str, Any]], object]:
    return lambda header: header["arrays"][name].update(fields)


_DAMAGES: list[Callable[[bytes], bytes]] = [
    *(_truncate, _damage_matrix, _damage_ids, _change_version),
    *(lambda _: b"", lambda _: b"hopweave" * 9),
]
_FORGED: list[Callable[[dict[str, Any]], object]] = [
    lambda _: [1],
    lambda _: {},
    lambda header: header.update(rows=10**12),
    lambda header: header.update(rows=299),
    lambda header: header.update(rows="many"),
    lambda header: header.update(dimension=0),
    lambda header: header.pop("change"),
    lambda header: header.pop("arrays"),
    lambda header: header.update(arrays=[]),
    lambda header: header["arrays"].pop("codes"),
    lambda header: header["arrays"].update(more=header["arrays"]["mean"]),
    lambda header: header.update(size=1),
    _set("matrix", type="O"),
    _set("matrix", type="no type"),
    _set("matrix", shape=[-1, 8]),
    _set("matrix", shape=[1 << 62, 8]),
    _set("matrix", start=1 << 50),
    _set("matrix", start=-4096),
    _set("matrix", shape=[2, 8]),
    _set("codes", shape=[0, 1, 16384]),
    _set("codes", type="<f8"),
    _set("owners", start=16384, checked=False),
    _set("documents", shape=[0]),
    _set("ids", type="<i4", checked=False),
]


async def test_a_file_that_cannot_be_used_is_built_again(
    written: tuple[str, Path], path: Path, caplog: pytest.LogCaptureFixture
):
    """Compiled code reads the arrays without checking its indices, so what does not fit would end the process."""
    corpus, file = written
    before = file.read_bytes()
    for damage in [*_DAMAGES, *(partial(_forge, change=change) for change in _FORGED)]:
        file.write_bytes(damage(before))
        store = SqliteVectorStore(path, policy=EAGER)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "hopweave.stores"):
            hits = await store.search(corpus, CHUNK, unit_vectors(300)[200], 300)
        assert ({hit.id for hit in hits}, hits[0].id) == (set(names(300)), names(300)[200])
        assert [record for record in caplog.records if "built again" in record.message]
        assert file.read_bytes() == before
        await store.close()


async def test_damage_is_found_when_the_file_is_written_again(written: tuple[str, Path], path: Path):
    corpus, file = written
    file.write_bytes(_damage_matrix(file.read_bytes()))
    store = SqliteVectorStore(path, policy=EAGER)
    await store.write(corpus, CHUNK, batch(["new"], unit_vectors(1, seed=9)))
    await store.look_at_files()
    base = VectorBase.open(file)
    assert len(base.read_rows(np.arange(301))) == 301
    await store.close()


async def test_the_file_of_another_store_is_not_used(written: tuple[str, Path], path: Path):
    """A store that is made again gives the same numbers to its collections."""
    corpus, file = written
    for old in path.parent.glob("vectors.db*"):
        old.unlink()
    store = SqliteVectorStore(path, policy=EAGER)
    vectors = unit_vectors(400, seed=4)
    await store.write(corpus, CHUNK, batch(names(400, "w"), vectors))
    assert (await store.search(corpus, CHUNK, vectors[7], 1))[0].id == "w00007"
    assert VectorBase.open(file).read_ids(np.arange(1)) == ["w00000"]
    await store.close()


async def test_the_file_of_a_later_state_is_not_used(written: tuple[str, Path], path: Path):
    """The store was put back to an older copy."""
    corpus, _ = written
    copy = path.with_name("older")
    shutil.copy(path, copy)
    store = SqliteVectorStore(path, policy=EAGER)
    await store.write(corpus, CHUNK, batch(["later"], unit_vectors(1, seed=9)))
    await store.look_at_files()
    await store.close()
    for changed in path.parent.glob("vectors.db*"):
        changed.unlink()
    copy.rename(path)
    assert len(await store.search(corpus, CHUNK, unit_vectors(1)[0], 400)) == 300
    await store.close()


async def test_without_a_folder_vectors_are_in_memory(path: Path, caplog: pytest.LogCaptureFixture):
    path.with_suffix("").write_text("no folder")
    store, corpus = SqliteVectorStore(path, policy=EAGER), new_id()
    with caplog.at_level(logging.WARNING, "hopweave.stores"):
        for seed in range(3):
            await store.write(corpus, CHUNK, batch([f"v{seed}"], unit_vectors(1, seed=seed)))
            assert len(await store.search(corpus, CHUNK, unit_vectors(1)[0], 9)) == seed + 1
            await store.look_at_files()
    assert len([record for record in caplog.records if "in the memory of each process" in record.message]) == 1
    await store.close()


@pytest.fixture
def other_stores(path: Path) -> Iterator[list[SqliteVectorStore]]:
    stores = [SqliteVectorStore(path, policy=EAGER) for _ in range(3)]
    yield stores
    with closing(asyncio.new_event_loop()) as loop:
        for store in stores:
            loop.run_until_complete(store.close())


def test_stores_that_begin_at_once_write_one_file(other_stores: list[SqliteVectorStore]):
    corpus, vectors = new_id(), unit_vectors(3000)

    async def search() -> None:
        await other_stores[0].write(corpus, CHUNK, batch(names(3000), vectors))
        hits = await asyncio.gather(*(store.search(corpus, CHUNK, vectors[7], 1) for store in other_stores))
        assert [[hit.id for hit in found] for found in hits] == [["v00007"]] * 3

    asyncio.run(search())
    identities = {
        store._snapshots.get(corpus, CHUNK).mapped  # type: ignore[union-attr]
        for store in other_stores
    }
    assert len(identities) == 1


def test_a_process_that_searches_often_compiles_the_first_pass(
    written: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, file = written
    kernels = {
        "COUNT_DIFFERENCES": JitFunction(sign_kernels._count_differences, sign_kernels._count_signature),
        "SCORE_SIGNS": JitFunction(sign_kernels._score_signs, sign_kernels._score_signature),
    }
    for name, kernel in kernels.items():  # another test may have compiled them
        monkeypatch.setattr(signs, name, kernel)

    async def search() -> None:
        store = SqliteVectorStore(file.parent.with_suffix(".db"), policy=EAGER)
        queries = unit_vectors(8)
        before = []
        for query in queries:
            await store.look_at_files()
            assert not any(kernel.is_compiled for kernel in kernels.values())
            before.append(await store.search(corpus, CHUNK, query, 5))
        await store.look_at_files()
        assert all(kernel.is_compiled for kernel in kernels.values())
        assert [await store.search(corpus, CHUNK, query, 5) for query in queries] == before
        await store.close()

    asyncio.run(search())
