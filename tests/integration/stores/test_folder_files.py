from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.errors import InvalidInput, Unavailable
from core.ids import content_hash, new_id
from stores.files import FolderFileStore
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


@pytest.mark.parametrize("corpus_id", NASTY)
async def test_a_corpus_id_never_makes_a_path(tmp_path: Path, corpus_id: str):
    store = FolderFileStore(tmp_path / "files")
    with pytest.raises(InvalidInput, match="corpus id"):
        await store.put(corpus_id, [b"a"])
    with pytest.raises(InvalidInput, match="corpus id"):
        await store.delete_corpus(corpus_id)
    assert _within(tmp_path) == []


@pytest.mark.parametrize("name", [*NASTY, "../" * 10 + "etc/passwd", content_hash(b"a").upper()])
async def test_a_name_never_makes_a_path(tmp_path: Path, name: str):
    store = FolderFileStore(tmp_path)
    with pytest.raises(InvalidInput, match="name of an original"):
        await store.get(new_id(), name)
    with pytest.raises(InvalidInput, match="name of an original"):
        await store.delete(new_id(), [content_hash(b"a"), name])


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


def _within(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]
