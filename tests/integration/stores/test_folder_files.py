"""Originals in a folder: names never make paths, and nothing is half there, also after a kill."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.errors import InvalidInput, Unavailable
from core.ids import content_hash, new_id
from core.ports.files import FileStore
from stores.files import FolderFileStore, folder
from testing.contracts.file_store import Connect, FileStoreContract


class TestFolderFileStore(FileStoreContract):
    @pytest.fixture
    def connect(self, tmp_path: Path) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[FolderFileStore]:
            store = FolderFileStore(tmp_path / "files")
            yield store
            await store.close()

        return connect


NASTY = ["", ".", "..", "../../etc", "a/b", "/etc/passwd", "ABCDEF12", "0123456g", "abc", "\x00" * 8, "abcdef12\n"]
NASTY_NAMES = [*NASTY, "../" * 10 + "etc/passwd", content_hash(b"a").upper()]


async def refuses_nasty_names(store: FileStore) -> None:
    for corpus_id in NASTY:
        with pytest.raises(InvalidInput, match="corpus id"):
            await store.put(corpus_id, [b"a"])
        with pytest.raises(InvalidInput, match="corpus id"):
            await store.delete_corpus(corpus_id)
    for name in NASTY_NAMES:
        with pytest.raises(InvalidInput, match="name of an original"):
            await store.get(new_id(), name)
        with pytest.raises(InvalidInput, match="name of an original"):
            await store.delete(new_id(), [content_hash(b"a"), name])


async def test_no_id_and_no_name_makes_a_path(tmp_path: Path):
    await refuses_nasty_names(FolderFileStore(tmp_path / "files"))
    assert _within(tmp_path) == []


async def test_nothing_is_left_where_a_corpus_was(tmp_path: Path):
    store, corpus = FolderFileStore(tmp_path), new_id()
    await store.put(corpus, [b"a", b"b"])
    (tmp_path / ".removed-by-a-killed-process").mkdir()
    await store.delete_corpus(corpus)
    assert _within(tmp_path) == []


async def test_an_unfinished_file_is_not_an_original(tmp_path: Path):
    store, corpus = FolderFileStore(tmp_path), new_id()
    [name] = await store.put(corpus, [b"a"])
    (tmp_path / corpus / name[:2] / f".{content_hash(b'half')}.0a1b").write_bytes(b"ha")
    assert await store.names(corpus) == [name]


async def test_a_root_that_is_no_folder_is_unavailable(tmp_path: Path):
    (tmp_path / "files").write_text("in the way")
    with pytest.raises(Unavailable, match="permissions"):
        await FolderFileStore(tmp_path / "files").put(new_id(), [b"a"])


_KILLED = """
import asyncio, os, pathlib, signal, sys
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
os.link = pathlib.Path.replace = die
from stores.files.folder import FolderFileStore
asyncio.run(FolderFileStore(pathlib.Path(sys.argv[1])).put("a" * 32, [b"An original."]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has files without a name")
def test_a_process_that_is_killed_while_it_stores_an_original_leaves_nothing_of_it(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", _KILLED, tmp_path], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert _list_files(tmp_path) == []


@pytest.mark.parametrize("has_unnamed", [True, False])
async def test_originals_are_whole_with_and_without_unnamed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_unnamed: bool
) -> None:
    if not has_unnamed:
        monkeypatch.setattr(folder, "_write_unnamed", lambda *_: False)
    elif sys.platform.startswith("linux"):
        monkeypatch.delattr(Path, "replace")  # no draft is renamed
    files = FolderFileStore(tmp_path)
    names = await files.put("a" * 32, [b"one", b"two", b"one"])
    assert names[0] == names[2]
    assert [await files.get("a" * 32, name) for name in names] == [b"one", b"two", b"one"]
    assert len(await asyncio.to_thread(_list_files, tmp_path)) == 2


def _list_files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def _within(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]
