"""Bridged ranking follows the corpus: however the documents came to be there, the same ones are ranked the same."""

import asyncio
import random
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Corpus
from core.ids import document_id
from core.ports.retrieval import Query, Searcher, SearchResult
from core.ports.views import Scored
from core.strategies import StrategySpec, build
from core.text.query import TextQuery
from core.trace import Trace
from retrieval import SEARCHERS, RetrievalBackends, SnapshotCache
from stores.tantivy import TantivyTextIndex
from testing.contracts.searcher import PASSAGES, QUESTION
from testing.indexed_corpus import Passage
from tests.desk import Desk
from tests.searching import World, open_world

Document = Mapping[str, Any]

NO_NAME = "bridged: no name leads"
NO_SEED = "graph: the corpus knows no name of the question"

# Documents of several chunks, which name one another; "gone" and the earlier forms are there for a while only.
SONG = "Hello Love is a song. It was recorded by Hank Snow in the year 1974. The label was in Nashville.\n\n" * 3
SINGER = (
    "Hank Snow was a singer from Liverpool, Nova Scotia. He died in Madison, Tennessee, in December.\n\n"
    "His wife was Minnie Blanche Aalders. They moved to Nashville after the war.\n\n"
)
TOWN = "Madison is a part of Nashville. It borders the Cumberland River. Publix opened a store there in 1998.\n\n"
STORE = "Publix has 44 stores in Tennessee. The first was opened by George Jenkins in Winter Haven.\n\n"
RIVER = "The Cumberland River drains the land that Hank Snow sang of. It flows into the Ohio River.\n\n"
CITY = "北京大学位于北京。《红楼梦》的研究在这里很有名。George Jenkins visited it in 1962.\n\n"
FINAL: Sequence[Document] = [
    {"id": "song", "title": "Hello Love", "text": SONG},
    {"id": "singer", "title": "Hank Snow", "text": SINGER + TOWN},
    {"id": "town", "title": "Madison", "text": TOWN + RIVER},
    {"id": "store", "title": "Publix", "text": STORE + TOWN},
    {"id": "river", "title": "Cumberland River", "text": RIVER},
    {"id": "city", "title": "北京大学", "text": CITY},
    {"id": "copy", "title": "Hello Love", "text": SINGER},
]
CHOSEN = frozenset(map(document_id, ("singer", "town", "copy", "city")))
QUESTIONS = [
    "Where did the performer of Hello Love die?",
    "Who opened the first store of the chain that has a store in Madison?",
    "which river borders the town where hank snow died",
    "北京大学在哪里？",
    "What was opened after the war?",
]


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Desk, Corpus, RetrievalBackends]]:
    desk = Desk(folder)
    backends = RetrievalBackends(
        vectors=desk.vectors,
        text=desk.text,
        documents=desk.record.documents,
        contents=desk.record.contents,
        snapshots=SnapshotCache(desk.record.graph, interval=0.0, patience=5.0),
        embedder=desk.embedder,
    )
    try:
        yield desk, await desk.corpus(), backends
    finally:
        await desk.close()


def bridged(backends: RetrievalBackends) -> Searcher:
    searcher: Searcher = build(SEARCHERS, StrategySpec(name="bridged"), "searcher", backends)
    return searcher


def told(result: SearchResult) -> list[tuple[str, str, float]]:
    return [(hit.document.key, hit.chunk.id, hit.score) for hit in result.hits]


def signals(result: SearchResult) -> dict[str, tuple[float | None, float | None]]:
    """Cosine and PageRank by chunk."""
    return {hit.chunk.id: (hit.signals.dense, hit.signals.graph) for hit in result.hits}


def assert_same(one: SearchResult, other: SearchResult) -> None:
    """The same chunks in the same order, by the same scores but for the last digits of sums."""
    assert [hit.chunk.id for hit in one.hits] == [hit.chunk.id for hit in other.hits]
    assert [hit.score for hit in one.hits] == pytest.approx([hit.score for hit in other.hits], rel=0, abs=1e-12)


async def asked(backends: RetrievalBackends, corpus: Corpus, text: str, **fields: Any) -> SearchResult:
    return await bridged(backends).search(Query(corpus=corpus, text=text, **fields), Trace())


async def history(desk: Desk, corpus: Corpus, backends: RetrievalBackends) -> None:
    """Every document of FINAL at last, after other texts, other titles, other keys and other orders."""
    song, singer, town, store, river, city, copy = FINAL
    await desk.ingest(corpus, {"id": "gone", "title": "Nashville", "text": "Hank Snow sang Hello Love there.\n\n" * 4})
    await desk.ingest(corpus, copy, {**town, "title": "Madison (Tennessee)"}, {**song, "id": "an earlier key"})
    await asked(backends, corpus, QUESTIONS[0])  # so that there is a snapshot to follow from
    await desk.ingest(corpus, {**singer, "text": TOWN + SINGER}, {**store, "text": STORE})
    await asked(backends, corpus, QUESTIONS[0])
    await desk.delete(corpus, "gone", "an earlier key")
    await desk.ingest(corpus, {**river, "text": RIVER + CITY}, city)
    await asked(backends, corpus, QUESTIONS[1])
    await desk.ingest(corpus, song, town, store)
    await desk.delete(corpus, "river", "copy")
    await asked(backends, corpus, QUESTIONS[2])
    await desk.ingest(corpus, singer)
    await desk.ingest(corpus, river, copy)


@dataclass(frozen=True, kw_only=True)
class OfAnother:
    """The text index of another corpus with the same passages, asked in this one's name."""

    index: TantivyTextIndex
    corpus: Corpus

    async def search(
        self, _corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        return await self.index.search(self.corpus.id, query, k, documents)

    async def find_few(
        self, _corpus_id: str, asked: Sequence[tuple[TextQuery, int]], documents: Collection[str] | None = None
    ) -> list[list[str]]:
        return await self.index.find_few(self.corpus.id, asked, documents)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    return tmp_path / "one", tmp_path / "other"


async def test_a_corpus_that_changed_ranks_as_one_that_was_built_at_once(folders: tuple[Path, Path]) -> None:
    """All but BM25, which both take from one index: tantivy's counts what was deleted until its segment is merged."""
    async with opened(folders[0]) as (desk, corpus, once), opened(folders[1]) as (other, grown, changed):
        await desk.ingest(corpus, *FINAL)
        await history(other, grown, changed)
        assert await other.view_ids(grown) == await desk.view_ids(corpus)
        later = replace(changed, text=OfAnother(index=desk.text, corpus=corpus))
        for question in QUESTIONS:
            for documents in (None, CHOSEN):
                expected = await asked(once, corpus, question, k=20, documents=documents)
                assert_same(await asked(later, grown, question, k=20, documents=documents), expected)
                assert len({hit.chunk.id for hit in expected.hits}) == len(expected.hits) > 3


async def test_what_a_changed_corpus_tells_beside_bm25_is_the_same(folders: tuple[Path, Path]) -> None:
    async with opened(folders[0]) as (desk, corpus, once), opened(folders[1]) as (other, grown, later):
        await desk.ingest(corpus, *FINAL)
        await history(other, grown, later)
        for question in QUESTIONS:
            expected = signals(await asked(once, corpus, question, k=20))
            assert signals(await asked(later, grown, question, k=20)) == expected
            assert len(expected) == 8


async def test_the_order_of_ingestion_does_not_show(folders: tuple[Path, Path]) -> None:
    shuffled = random.Random(3).sample(FINAL, len(FINAL))
    async with opened(folders[0]) as (desk, corpus, one), opened(folders[1]) as (second, turned, other):
        await desk.ingest(corpus, *FINAL)
        for document in shuffled:
            await second.ingest(turned, document)
        for question in QUESTIONS:
            assert_same(await asked(other, turned, question, k=20), await asked(one, corpus, question, k=20))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        yield world


async def searched(world: World, text: str = QUESTION, **fields: Any) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    return await world.searcher("bridged").search(world.query(text, explain=True, **fields), trace), trace.notes


async def test_a_name_leads_while_a_document_says_it(world: World) -> None:
    """The song alone says that Hank Snow is meant; without him two candidates have no name in common."""
    song = Passage(key="song", title="Hello Love", text="Hello Love is a song that was recorded by Hank Snow.")
    singer = Passage(key="singer", title="Hank Snow", text="he died in a town")
    await world.put([song, singer, PASSAGES[3], PASSAGES[4]])
    result, notes = await searched(world)
    assert [hit.document.key for hit in result.hits[:2]] == ["song", "singer"]
    assert not any(note.startswith(NO_NAME) for note in notes)
    await world.put([replace(song, text="Hello Love is a song that was recorded by somebody.")])
    assert any(note.startswith(NO_NAME) for note in (await searched(world))[1])
    await world.put([song])
    again, notes = await searched(world)
    assert [hit.chunk.id for hit in again.hits] == [hit.chunk.id for hit in result.hits]
    assert not any(note.startswith(NO_NAME) for note in notes)
    await world.remove(["song"], keep_views=False)
    after, notes = await searched(world)
    assert {hit.document.key for hit in after.hits} == {"singer", "d", "e"}
    assert any(note.startswith(NO_NAME) for note in notes)
    assert any(note.startswith(NO_SEED) for note in notes)


async def test_a_question_that_names_nothing_falls_back_and_says_so(world: World) -> None:
    await world.put(PASSAGES[3:5])
    result, notes = await searched(world, "what is made of flour?")
    fused = await world.searcher("fused").search(world.query("what is made of flour?"), Trace())
    assert [hit.chunk.id for hit in result.hits] == [hit.chunk.id for hit in fused.hits]
    assert [note.partition(" ")[0] for note in notes] == ["graph:", "bridged:"]


async def test_an_empty_corpus_says_that_nothing_leads_anywhere(world: World) -> None:
    result, notes = await searched(world)
    assert (result.hits, result.linked) == ((), {})
    assert [note.partition(" ")[0] for note in notes] == ["graph:", "bridged:"]


async def test_a_corpus_without_any_name_is_ranked_as_fused_ranks(world: World) -> None:
    plain = [Passage(key=str(i), title="", text=text) for i, text in enumerate(["bread and water", "grass in herds"])]
    await world.put(plain)
    result, notes = await searched(world, "who eats grass?")
    assert [hit.document.key for hit in result.hits] == ["1", "0"]
    assert any(note.startswith(NO_NAME) for note in notes)


async def test_a_script_without_capitals_is_ranked_by_its_titles(world: World) -> None:
    await world.put(
        [
            Passage(key="work", title="红楼梦", text="小说《红楼梦》的作者是「曹雪芹」。"),
            Passage(key="writer", title="曹雪芹", text="他在北京去世。"),
            Passage(key="other", title="面包", text="面包是用面粉做的。"),
        ]
    )
    result, notes = await searched(world, "《红楼梦》的作者在哪里去世？")
    assert {hit.document.key for hit in result.hits[:2]} == {"work", "writer"}
    assert list(result.linked) == ["红楼梦"]
    assert notes == []


async def test_equal_scores_go_by_chunk_id(world: World) -> None:
    """Passages that say the same, and name nothing that the question names, differ in nothing but their ids."""
    same = [Passage(key=f"twin {i}", title="", text="bread and water") for i in range(12)]
    await world.put([*random.Random(5).sample(same, 12), PASSAGES[3]])
    result, _ = await searched(world, "what is bread made of?", k=12)
    assert len({hit.score for hit in result.hits}) == 1
    found = [hit.chunk.id for hit in result.hits]
    assert found == sorted(found)


async def test_more_hits_than_the_pool_has_by_default_come_each_once(world: World) -> None:
    many = [
        Passage(key=f"{i}", title=f"Town {i}", text=f"Hank Snow sang in Town {(i * 7) % 320}, a town of bread.")
        for i in range(320)
    ]
    await world.put([*many, *PASSAGES])
    result, _ = await searched(world, k=300)
    found = [hit.chunk.id for hit in result.hits]
    assert len(found) == len(set(found)) == 300
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


async def test_many_at_once_get_what_each_gets_alone(world: World) -> None:
    await world.put(PASSAGES)
    texts = [QUESTION, "Was Hank Snow ever in Nashville?", "what is made of flour?", "How many stores has Publix?"] * 2
    searcher = world.searcher("bridged")
    alone = [told(await searcher.search(world.query(text, k=6), Trace())) for text in texts]
    together = await asyncio.gather(*(searcher.search(world.query(text, k=6), Trace()) for text in texts))
    assert [told(result) for result in together] == alone
    assert len({str(one) for one in alone}) == 4
