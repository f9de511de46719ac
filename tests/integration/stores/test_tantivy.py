import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import tantivy
from hypothesis import HealthCheck, given, settings

from core.errors import InvalidInput, Unavailable
from core.ids import new_id
from core.ports.views import Scored
from core.text.query import Phrase, Term, TextQuery, any_of
from stores.tantivy import TantivyTextIndex
from stores.tantivy import index as index_module
from testing.contracts.text_index import Connect, TextIndexContract, entry, found
from tests.integration.stores.any_text import NASTY, QUERIES, WORDS
from tests.integration.stores.test_folder_files import NASTY as NASTY_IDS


class TestTantivyTextIndex(TextIndexContract):
    @pytest.fixture
    def connect(self, tmp_path: Path) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[TantivyTextIndex]:
            index = TantivyTextIndex(tmp_path / "text")
            yield index
            await index.close()

        return connect


async def test_of_many_equal_entries_some_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of a log score all the same: to order all of them would take as long as the log is."""
    index, corpus, read = TantivyTextIndex(tmp_path), new_id(), []
    await index.write(corpus, [entry(f"{n:05}", f"pump {n} reports an alarm") for n in range(3000)])
    read_hits = index_module._read_hits

    def counted(searcher: Any, hits: Any, k: int, documents: Any) -> list[Scored]:
        read.append(len(hits))
        return read_hits(searcher, hits, k, documents)

    monkeypatch.setattr(index_module, "_MOST_TIES", 100)
    monkeypatch.setattr(index_module, "_read_hits", counted)
    first = await found(index, corpus, any_of(("alarm",)), 10)
    assert len(first) == 10
    assert first == await found(index, corpus, any_of(("alarm",)), 10)
    assert max(read) < 1000
    assert await index.find_few(corpus, [(any_of(("alarm",)), 2999), (any_of(("17",)), 3)]) == [[], ["00017"]]


QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(query=QUERIES)
async def test_no_query_is_an_error(tmp_path: Path, query: TextQuery):
    index, corpus = TantivyTextIndex(tmp_path), "0" * 32
    if not tmp_path.joinpath(corpus).exists():
        await index.write(corpus, [entry("a", "some text 日本 हिन्दी"), entry("b", "AND OR NOT")])
    assert await index.search(corpus, query, 10) is not None


@QUICK
@given(text=NASTY, word=WORDS)
async def test_a_text_is_always_found_by_a_term_of_itself(tmp_path: Path, text: str, word: str):
    index, corpus = TantivyTextIndex(tmp_path), "0" * 32
    whole = f"{text} {word}"
    await index.write(corpus, [entry("self", whole)])
    assert await found(index, corpus, TextQuery(must=(Term(text=whole),))) == ["self"]
    assert await found(index, corpus, TextQuery(must=(Term(text=word), Phrase(text=whole, slop=1)))) == ["self"]


async def test_no_corpus_id_makes_a_path(tmp_path: Path):
    index = TantivyTextIndex(tmp_path / "text")
    for corpus_id in (*NASTY_IDS, ".draft-1"):
        with pytest.raises(InvalidInput, match="corpus id"):
            await index.write(corpus_id, [entry("a", "b")])
        with pytest.raises(InvalidInput, match="corpus id"):
            await index.delete_corpus(corpus_id)
    assert _within(tmp_path) == []


async def test_ids_for_the_doctor(tmp_path: Path):
    index, corpus = TantivyTextIndex(tmp_path), new_id()
    assert await index.ids(corpus) == []
    await index.write(corpus, [entry("b", "..."), entry("a", "x"), entry("c", "x")])
    await index.delete(corpus, ["c"])
    assert await index.ids(corpus) == ["a", "b"]


async def test_nothing_is_left_where_an_index_was(tmp_path: Path):
    index, corpus = TantivyTextIndex(tmp_path), new_id()
    await index.write(corpus, [entry("a", "b")])
    (tmp_path / ".removed-by-a-killed-process").mkdir()
    await index.delete_corpus(corpus)
    assert _within(tmp_path) == []


async def test_a_held_writer_is_unavailable_and_readers_go_on(tmp_path: Path):
    index, corpus = TantivyTextIndex(tmp_path), new_id()
    await index.write(corpus, [entry("a", "word")])
    other = tantivy.Index.open(str(tmp_path / corpus)).writer(15_000_000, 1)
    with pytest.raises(Unavailable, match=rf"{corpus}.*another process"):
        await index.write(corpus, [entry("b", "word")])
    assert await found(index, corpus, any_of(("word",))) == ["a"]
    other.wait_merging_threads()
    await index.write(corpus, [entry("b", "word")])
    assert await found(index, corpus, any_of(("word",))) == ["a", "b"]


@pytest.mark.parametrize("damage", ["no marker", "no meta", "meta cut", "segments gone", "segments cut", "a file"])
async def test_a_damaged_index_names_the_remedy_and_can_be_dropped(tmp_path: Path, damage: str):
    index, corpus = TantivyTextIndex(tmp_path), new_id()
    await index.write(corpus, [entry("a", "word")])
    _damage(tmp_path / corpus, damage)
    for used in (index, TantivyTextIndex(tmp_path)):
        if used is index and damage.startswith("segments"):
            continue  # what is mapped into memory stays readable
        with pytest.raises(Unavailable, match=r"doctor --repair"):
            await used.search(corpus, any_of(("word",)), 1)
    await index.delete_corpus(corpus)
    await index.write(corpus, [entry("b", "word")])
    assert await found(index, corpus, any_of(("word",))) == ["b"]


def _damage(folder: Path, damage: str) -> None:
    segments = [path for path in folder.iterdir() if path.suffix in {".term", ".idx", ".store", ".pos", ".fast"}]
    match damage:
        case "no marker":
            next(folder.glob("hopweave-*")).unlink()
        case "no meta":
            (folder / "meta.json").unlink()
        case "meta cut":
            (folder / "meta.json").write_text('{"index_settings": {')
        case "segments gone":
            for path in segments:
                path.unlink()
        case "segments cut":
            for path in segments:
                path.rename(path.with_suffix(".whole"))  # a cut in place would pull the mapping from under the reader
                path.write_bytes(path.with_suffix(".whole").read_bytes()[:5])
        case "a file":
            shutil.rmtree(folder)
            folder.write_text("in the way")


async def test_processes_that_begin_at_once_share_one_index(tmp_path: Path):
    corpus = new_id()
    indexes = [TantivyTextIndex(tmp_path) for _ in range(6)]

    async def write(number: int) -> None:
        while True:
            try:
                return await indexes[number].write(corpus, [entry(str(number), "word")])
            except Unavailable:  # the writer's lock, which is held for one call
                await asyncio.sleep(0.01)

    await asyncio.gather(*(write(i) for i in range(6)))
    assert await found(indexes[0], corpus, any_of(("word",))) == [str(i) for i in range(6)]
    assert _within(tmp_path) == [corpus]


def _within(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_writer_that_was_killed_within_a_commit_stops_no_later_writer(tmp_path: Path) -> None:
    """Its file of deletions is there, and the segment's meta data does not name it yet."""
    index, corpus = TantivyTextIndex(tmp_path), new_id()
    await index.write(corpus, [entry(name, f"pump {name}") for name in ("a", "b", "c")])
    meta = tmp_path / corpus / "meta.json"
    before = meta.read_bytes()
    await index.delete(corpus, ["a"])
    await index.close()
    meta.write_bytes(before)
    again = TantivyTextIndex(tmp_path)
    await again.delete(corpus, ["b"])
    assert await again.missing(corpus, ["a", "b", "c"]) == {"b"}, "what was not committed is not done"
    await again.delete(corpus, ["a"])
    assert await again.missing(corpus, ["a", "b", "c"]) == {"a", "b"}
