"""Originals of an embedded installation: small ones in one database file, large ones in the folder beside it."""

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotFound, Unavailable
from core.ids import content_hash, new_id
from stores.files import FolderFileStore, PackedFileStore
from testing.contracts.file_store import Connect, FileStoreContract

LARGE = b"large " * 10_000
SECRET = random.Random(0).randbytes(100)  # cannot be compressed

_WRITER = """
import asyncio, itertools, pathlib, sys
from stores.files import PackedFileStore
async def write():
    store = PackedFileStore(pathlib.Path(sys.argv[1]))
    for n in itertools.count():
        for name in await store.put(sys.argv[2], [f"{n}-{i}".encode() for i in range(20)]):
            print(name, flush=True)
asyncio.run(write())
"""


class TestPackedFileStore(FileStoreContract):
    @pytest.fixture
    def connect(self, tmp_path: Path) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[PackedFileStore]:
            store = PackedFileStore(tmp_path / "files")
            yield store
            await store.close()

        return connect


@pytest.mark.parametrize("corpus_id", ["", "..", "a/b", "ABCDEF12"])
async def test_a_corpus_id_never_makes_a_path(tmp_path: Path, corpus_id: str):
    store = PackedFileStore(tmp_path / "files")
    with pytest.raises(InvalidInput, match="corpus id"):
        await store.put(corpus_id, [b"a"])
    with pytest.raises(InvalidInput, match="name of an original"):
        await store.get(new_id(), corpus_id)


async def test_reading_makes_no_file(tmp_path: Path):
    store, corpus = PackedFileStore(tmp_path), new_id()
    with pytest.raises(NotFound):
        await store.get(corpus, content_hash(b"a"))
    await store.delete(corpus, [content_hash(b"a")])
    await store.delete_corpus(corpus)
    assert await store.names(corpus) == []
    assert not _bytes(tmp_path)


async def test_small_ones_share_a_file_and_large_ones_have_their_own(tmp_path: Path):
    store, corpus = PackedFileStore(tmp_path), new_id()
    names = await store.put(corpus, [*(f"{n}".encode() for n in range(500)), LARGE])
    assert [path.name for path in (tmp_path / corpus).glob("??/*")] == [names[-1]]
    await store.close()
    assert (tmp_path / "small.db").stat().st_size < 500 * 200
    assert (tmp_path / "small.db").stat().st_mode & 0o777 == 0o600


async def test_what_an_older_release_wrote_is_found_and_deleted(tmp_path: Path):
    corpus = new_id()
    [old] = await FolderFileStore(tmp_path).put(corpus, [b"old"])
    store = PackedFileStore(tmp_path)
    [new] = await store.put(corpus, [b"new"])
    assert await store.get(corpus, old) == b"old"
    assert await store.names(corpus) == sorted([old, new])
    await store.delete(corpus, [old])
    assert await store.names(corpus) == [new]


async def test_a_corpus_has_its_own_copy(tmp_path: Path):
    store, one, other = PackedFileStore(tmp_path), new_id(), new_id()
    [name] = await store.put(one, [b"same"])
    await store.put(other, [b"same"])
    await store.delete_corpus(one)
    assert await store.names(one) == []
    assert await store.get(other, name) == b"same"


@pytest.mark.parametrize("whole", [False, True])
async def test_what_is_deleted_is_in_no_file(tmp_path: Path, whole: bool):
    store, corpus = PackedFileStore(tmp_path), new_id()
    [name] = await store.put(corpus, [SECRET])
    assert SECRET in _bytes(tmp_path)
    await (store.delete_corpus(corpus) if whole else store.delete(corpus, [name]))
    assert SECRET not in _bytes(tmp_path)


async def test_a_log_that_others_read_is_emptied_by_a_later_call(tmp_path: Path):
    store, corpus = PackedFileStore(tmp_path), new_id()
    [name] = await store.put(corpus, [SECRET])
    with closing(sqlite3.connect(tmp_path / "small.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM originals").fetchall()
        await store.delete(corpus, [name])
        assert SECRET in _bytes(tmp_path)
    await store.names(corpus)
    assert SECRET not in _bytes(tmp_path)


async def test_a_log_that_a_killed_process_left_is_emptied_by_the_next_one(tmp_path: Path):
    killed, corpus = PackedFileStore(tmp_path), new_id()
    [name] = await killed.put(corpus, [SECRET])
    with closing(sqlite3.connect(tmp_path / "small.db")) as other:  # as it was before it had emptied the log
        other.execute("PRAGMA secure_delete = on")
        other.execute("DELETE FROM originals")
        other.commit()
        assert SECRET in _bytes(tmp_path)
        assert await PackedFileStore(tmp_path).names(corpus) == []
        assert SECRET not in _bytes(tmp_path)
    with pytest.raises(NotFound):
        await killed.get(corpus, name)


async def test_what_was_put_survives_a_kill(tmp_path: Path):
    corpus = new_id()
    names = await asyncio.to_thread(_killed_writer, tmp_path, corpus)
    store = PackedFileStore(tmp_path)
    assert {content_hash(await store.get(corpus, name)) for name in names} == set(names)
    assert set(names) <= set(await store.names(corpus))


async def test_two_processes_write_the_same(tmp_path: Path):
    one, other, corpus = PackedFileStore(tmp_path), PackedFileStore(tmp_path), new_id()
    contents = [f"{n}".encode() for n in range(200)]
    puts = [store.put(corpus, [content]) for content in contents for store in (one, other)]
    await asyncio.gather(*puts)
    assert await one.names(corpus) == sorted(map(content_hash, contents))


async def test_a_damaged_file_is_said(tmp_path: Path):
    (tmp_path / "small.db").write_bytes(b"not a database" * 100)
    with pytest.raises(Unavailable, match=r"small\.db"):
        await PackedFileStore(tmp_path).put(new_id(), [b"a"])


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("small.db*"))


def _killed_writer(folder: Path, corpus: str) -> list[str]:
    """Returns the names that a process has printed before it was killed."""
    command = [sys.executable, "-c", _WRITER, folder, corpus]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        names = [process.stdout.readline().strip() for _ in range(100)]
        process.send_signal(signal.SIGKILL)
        return names + [line.strip() for line in process.stdout if line.endswith("\n")]
