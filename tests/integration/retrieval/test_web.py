"""The searcher `web`, over a SearXNG twin: what leaves the house, and what comes back."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import ids
from core.errors import InvalidInput, InvalidStrategy
from core.ports.retrieval import SearchResult
from core.trace import Trace
from retrieval.backends import WebAccess
from stores.searxng import SearxngWebSearch
from testing.contracts.searcher import PASSAGES
from tests.searching import World, open_world
from tests.twins.searxng_server import SearxngServer

RESULTS = (
    {"url": "https://one.example/a", "title": "One &amp; only", "content": "The <b>first</b> result."},
    {"url": "http://two.example/b", "title": "Two", "content": "The second result."},
    {"url": "https://three.example/c", "title": "Three", "content": "Zebras eat grass."},
)


@pytest.fixture
def server() -> Iterator[SearxngServer]:
    with SearxngServer(RESULTS) as server:
        yield server


@pytest.fixture
async def world(tmp_path: Path, server: SearxngServer) -> AsyncIterator[World]:
    async with open_world(tmp_path, web=WebAccess(search=SearxngWebSearch(url=server.url))) as world:
        await world.put(PASSAGES[:1])
        yield world


async def found(world: World, text: str = "first", **fields: Any) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    query = world.query(text, **{"web": True, "private": False, **fields})
    return await world.searcher("web").search(query, trace), trace.notes


async def test_results_are_passages_marked_as_from_the_web(world: World) -> None:
    result, notes = await found(world)
    assert notes == []
    assert [hit.url for hit in result.hits] == [row["url"] for row in RESULTS]
    first = result.hits[0]
    assert (first.chunk.text, first.document.title) == ("The first result.", "One & only")
    assert (first.document.key, first.document.metadata) == (first.url, {"source": "web", "url": first.url})
    assert first.chunk.id.startswith("web:")
    assert first.chunk.document_id == first.document.id
    assert len({hit.chunk.id for hit in result.hits}) == 3
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


async def test_documents_that_a_verification_masks_do_not_close_the_web(world: World) -> None:
    """It is about the documents of the corpus; a filter of the question is a wish to read these alone."""
    _, notes = await found(world, documents=frozenset({"any"}))
    assert notes == ["web: not asked, since the filter admits documents of the corpus only"]
    result, notes = await found(world, documents=frozenset({"any"}), masked=True)
    assert (len(result.hits), notes) == (3, [])


async def test_k_limits_and_nothing_is_stored(world: World) -> None:
    assert len((await found(world, k=2))[0].hits) == 2
    again, _ = await found(world, k=2)
    assert len(again.hits) == 2
    counts = await world.record.corpora.count(world.corpus.id)
    assert (counts.documents, counts.chunks) == (1, 1)


async def test_equal_results_have_equal_ids(world: World) -> None:
    once, again = (await found(world))[0], (await found(world))[0]
    assert [hit.chunk.id for hit in once.hits] == [hit.chunk.id for hit in again.hits]


async def test_without_permission_it_refuses(world: World, server: SearxngServer) -> None:
    with pytest.raises(InvalidInput, match="set web to true"):
        await found(world, web=False)
    assert server.requests == []


async def test_a_query_that_may_hold_private_text_does_not_leave(world: World, server: SearxngServer) -> None:
    result, notes = await found(world, private=True)
    assert result.hits == ()
    assert notes == [
        "web: not asked, since what wrote the query had been shown passages of yours (HOPWEAVE_WEB__AFTER_PRIVATE)"
    ]
    assert server.requests == []


async def test_it_leaves_where_the_setting_says_so(tmp_path: Path, server: SearxngServer) -> None:
    access = WebAccess(search=SearxngWebSearch(url=server.url), after_private=True)
    async with open_world(tmp_path, web=access) as world:
        result, notes = await found(world, private=True)
        assert len(result.hits) == 3
        assert notes == []


async def test_a_filter_of_documents_admits_no_page(world: World, server: SearxngServer) -> None:
    result, notes = await found(world, documents=frozenset({ids.document_id("a")}))
    assert result.hits == ()
    assert any("filter" in note for note in notes)
    assert server.requests == []


async def test_a_long_query_is_cut_between_words_and_that_is_said(world: World, server: SearxngServer) -> None:
    _, notes = await found(world, "seven\n" * 200)
    [asked] = server.questions
    assert asked == " ".join(["seven"] * 66)
    assert any("cut" in note for note in notes)


async def test_an_empty_query_asks_nothing(world: World, server: SearxngServer) -> None:
    assert (await found(world, " \n"))[0].hits == ()
    assert server.requests == []


async def test_a_least_similarity_drops_what_is_too_far(world: World) -> None:
    every, _ = await found(world, "zebras eat grass", min_similarity=-1.0)
    best = max(every.hits, key=lambda hit: hit.signals.dense or -1)
    assert best.document.title == "Three"
    near, _ = await found(world, "zebras eat grass", min_similarity=(best.signals.dense or 0) - 1e-4)
    assert [hit.chunk.id for hit in near.hits] == [best.chunk.id]


async def test_without_a_search_engine_the_setting_is_named(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        with pytest.raises(InvalidStrategy, match="HOPWEAVE_WEB__KIND"):
            world.searcher("web")
