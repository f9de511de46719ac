"""Answers of models in a file of their own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.errors import Unavailable
from core.ports.chat import CachedAnswer
from stores.sqlite import SqliteModelCache


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[SqliteModelCache]:
    cache = SqliteModelCache(tmp_path / "folder" / "model-cache.db")
    yield cache
    await cache.close()


def _entry(key: str, *chunks: str, corpus: str = "c", answer: str = "yes 是") -> CachedAnswer:
    return CachedAnswer(key=key, answer=answer, corpus_id=corpus, chunk_ids=frozenset(chunks))


async def test_an_answer_is_kept_and_replaced(cache: SqliteModelCache):
    assert await cache.get("k") is None
    assert await cache.put(_entry("k", corpus=""), 0)
    assert await cache.get("k") == "yes 是"
    assert await cache.put(_entry("k", corpus="", answer="no"), 0)
    assert await cache.get("k") == "no"


async def test_a_removed_chunk_takes_its_answers_with_it(cache: SqliteModelCache):
    await cache.follow("c", 1, None)
    await cache.follow("d", 1, None)
    for entry in (_entry("ab", "a", "b"), _entry("b", "b"), _entry("none"), _entry("d", "a", corpus="d")):
        assert await cache.put(entry, 1)
    await cache.follow("c", 2, {"a", "unknown"})
    assert [await cache.get(key) is None for key in ("ab", "b", "none", "d")] == [True, False, False, False]
    await cache.follow("c", 3, None)
    assert [await cache.get(key) is None for key in ("b", "none", "d")] == [True, True, False]


async def test_an_answer_about_a_chunk_that_went_before_it_was_asked_for_is_not_kept(cache: SqliteModelCache):
    """A question that was shown the chunk, and asks a model only after the chunk has gone."""
    await cache.follow("c", 1, None)
    await cache.follow("d", 1, None)
    await cache.follow("c", 2, {"a"})
    await cache.put(_entry("ab", "a", "b"), 2)
    await cache.put(_entry("b", "b"), 2)
    await cache.put(_entry("d", "a", corpus="d"), 1)
    assert [await cache.get(key) for key in ("ab", "b", "d")] == [None, "yes 是", "yes 是"]
    await cache.delete_corpus("c")
    await cache.follow("c", 3, None)
    await cache.put(_entry("ab", "a", "b"), 3)
    assert await cache.get("ab") == "yes 是"


async def test_the_generation_goes_back_only_when_all_is_forgotten(cache: SqliteModelCache):
    assert await cache.followed("c") is None
    for generation, removed, followed in ((5, None, 5), (7, (), 7), (6, ("a",), 7), (2, None, 2)):
        await cache.follow("c", generation, removed)
        assert await cache.followed("c") == followed
    await cache.delete_corpus("c")
    assert await cache.followed("c") is None


async def test_an_answer_that_is_late_is_not_kept(cache: SqliteModelCache):
    assert not await cache.put(_entry("k"), 1)  # never heard of, or dropped meanwhile
    await cache.follow("c", 2, None)
    assert not await cache.put(_entry("k"), 1)
    assert await cache.get("k") is None
    assert await cache.put(_entry("k"), 2)


async def test_what_is_forgotten_is_not_left_in_the_file(cache: SqliteModelCache, tmp_path: Path):
    await cache.follow("c", 1, None)
    await cache.put(_entry("k", answer="a secret of the document"), 1)
    await cache.delete_corpus("c")
    await cache.close()
    assert b"a secret" not in (tmp_path / "folder" / "model-cache.db").read_bytes()


async def test_several_open_a_new_file_at_once(tmp_path: Path):
    caches = [SqliteModelCache(tmp_path / "model-cache.db") for _ in range(8)]
    await asyncio.gather(*(cache.put(_entry(str(n), corpus=""), 0) for n, cache in enumerate(caches)))
    assert [await caches[0].get(str(n)) for n in range(8)] == ["yes 是"] * 8
    await asyncio.gather(*(cache.close() for cache in caches))


async def test_a_file_that_is_none_says_what_to_do(tmp_path: Path):
    path = tmp_path / "model-cache.db"
    path.write_bytes(b"this is no database" * 100)
    cache = SqliteModelCache(path)
    with pytest.raises(Unavailable, match=r"model-cache\.db cannot be used .*HOPWEAVE_LLM__CACHE=false"):
        await cache.get("k")
    await cache.close()
