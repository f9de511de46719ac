"""The contract of `FileStore`. A subclass gives the fixture `connect`, which opens the same data with each call."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from core.errors import NotFound
from core.ids import content_hash, new_id
from core.ports.files import FileStore

__all__ = ["Connect", "FileStoreContract"]

Connect = Callable[[], AbstractAsyncContextManager[FileStore]]
LARGE = bytes(range(256)) * 200
CONTENTS = [b"one", b"", "日本語 हिन्दी".encode(), bytes(range(256)) * 5000]


class FileStoreContract:
    @pytest.fixture
    def connect(self) -> Connect:
        raise NotImplementedError("a subclass says how its store is opened")

    @pytest.fixture
    async def store(self, connect: Connect) -> AsyncIterator[FileStore]:
        async with connect() as store:
            yield store

    @pytest.fixture
    def corpus(self) -> str:
        return new_id()

    async def test_what_is_put_comes_back(self, store: FileStore, corpus: str) -> None:
        names = await store.put(corpus, CONTENTS)
        assert names == [content_hash(content) for content in CONTENTS]
        assert [await store.get(corpus, name) for name in names] == CONTENTS
        assert await store.names(corpus) == sorted(names)

    async def test_contents_may_come_from_a_generator(self, store: FileStore, corpus: str) -> None:
        assert len(await store.put(corpus, (str(i).encode() for i in range(3)))) == 3

    async def test_an_empty_put_gives_no_names(self, store: FileStore, corpus: str) -> None:
        assert await store.put(corpus, []) == []
        assert await store.names(corpus) == []

    async def test_putting_again_changes_nothing(self, store: FileStore, corpus: str) -> None:
        names = await store.put(corpus, [b"a", b"b", b"a"])
        assert names[0] == names[2]
        assert await store.put(corpus, [b"a", b"b", b"a"]) == names
        assert await store.names(corpus) == sorted(set(names))
        assert await store.get(corpus, names[0]) == b"a"

    async def test_what_is_not_there_is_not_found(self, store: FileStore, corpus: str) -> None:
        name = content_hash(b"never put")
        with pytest.raises(NotFound, match=name):
            await store.get(corpus, name)
        await store.put(corpus, [b"a"])
        with pytest.raises(NotFound, match=name):
            await store.get(corpus, name)

    async def test_delete(self, store: FileStore, corpus: str) -> None:
        kept, gone = await store.put(corpus, [b"kept", b"gone"])
        await store.delete(corpus, [gone, content_hash(b"never put")])
        await store.delete(corpus, [gone])
        await store.delete(corpus, [])
        assert await store.names(corpus) == [kept]
        with pytest.raises(NotFound):
            await store.get(corpus, gone)
        await store.put(corpus, [b"gone"])
        assert await store.get(corpus, gone) == b"gone"

    async def test_what_is_derived_is_kept_beside_its_original(self, store: FileStore, corpus: str) -> None:
        [name, other] = await store.put(corpus, [LARGE, LARGE[::-1]])
        assert await store.get_derived(corpus, name) is None
        for content in (b"derived", b"derived again"):
            await store.put_derived(corpus, name, content)
            assert await store.get_derived(corpus, name) == content
        assert await store.get_derived(corpus, other) is None
        assert await store.get(corpus, name) == LARGE
        assert await store.names(corpus) == sorted([name, other])
        await store.delete(corpus, [name])
        assert await store.get_derived(corpus, name) is None
        await store.put(corpus, [LARGE])
        assert await store.get_derived(corpus, name) is None

    async def test_nothing_is_derived_from_what_is_not_there(self, store: FileStore, corpus: str) -> None:
        name = content_hash(LARGE)
        await store.put_derived(corpus, name, b"derived")
        assert await store.get_derived(corpus, name) is None
        await store.put(corpus, [LARGE])
        await store.put_derived(corpus, name, b"derived")
        await store.delete_corpus(corpus)
        assert await store.get_derived(corpus, name) is None

    async def test_corpora_do_not_see_each_other(self, store: FileStore, corpus: str) -> None:
        other = new_id()
        [name] = await store.put(corpus, [b"same"])
        with pytest.raises(NotFound):
            await store.get(other, name)
        await store.delete(other, [name])
        await store.put(other, [b"same"])
        await store.delete_corpus(other)
        assert await store.get(corpus, name) == b"same"
        assert await store.names(other) == []

    async def test_drop_and_begin_again(self, store: FileStore, corpus: str) -> None:
        await store.delete_corpus(corpus)
        [name] = await store.put(corpus, [b"a"])
        await store.delete_corpus(corpus)
        assert await store.names(corpus) == []
        with pytest.raises(NotFound):
            await store.get(corpus, name)
        assert await store.put(corpus, [b"a"]) == [name]
        assert await store.get(corpus, name) == b"a"

    async def test_many_small_contents(self, store: FileStore, corpus: str) -> None:
        names = await store.put(corpus, [f"document {i}".encode() for i in range(1890)])
        assert len(set(names)) == 1890
        assert await store.names(corpus) == sorted(names)
        await store.delete(corpus, names)
        assert await store.names(corpus) == []

    async def test_another_instance_sees_it_at_once(self, connect: Connect, corpus: str) -> None:
        async with connect() as one, connect() as other:
            [name] = await one.put(corpus, [b"a"])
            assert await other.get(corpus, name) == b"a"
            await other.delete(corpus, [name])
            assert await one.names(corpus) == []

    async def test_what_was_put_is_there_after_reopening(self, connect: Connect, corpus: str) -> None:
        async with connect() as store:
            [name] = await store.put(corpus, [b"a"])
        async with connect() as store:
            assert await store.get(corpus, name) == b"a"

    async def test_the_same_content_from_many_at_once(self, store: FileStore, corpus: str) -> None:
        content = b"x" * 100_000
        results = await asyncio.gather(*(store.put(corpus, [content, str(i).encode()]) for i in range(20)))
        assert {names[0] for names in results} == {content_hash(content)}
        assert len(await store.names(corpus)) == 21
        assert await store.get(corpus, content_hash(content)) == content
