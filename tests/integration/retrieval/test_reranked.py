"""Reranking over another searcher: what changes, what stays, what is refused."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Fine
from core.errors import InvalidStrategy, Unavailable
from core.trace import Trace
from models.rerankers import HttpReranker
from testing.contracts.searcher import PASSAGES, QUESTION
from tests.searching import NamedSearcherContract, World, open_world
from tests.twins.json_server import Reply, Request
from tests.twins.rerank_server import RerankServer


class Contrary(RerankServer):
    """The shortest document is the best."""

    def respond(self, request: Request) -> Reply:
        documents = request.body["documents"]
        return Reply(body={"results": [{"index": i, "relevance_score": -len(one)} for i, one in enumerate(documents)]})


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with Contrary() as server:
        yield server


@pytest.fixture
async def world(tmp_path: Path, server: RerankServer) -> AsyncIterator[World]:
    async with open_world(tmp_path, fine=Fine.ON, reranker=HttpReranker(url=server.address)) as world:
        await world.put(PASSAGES)
        yield world


async def test_the_models_scores_make_the_order_and_signals_and_paths_stay(world: World) -> None:
    query = world.query(QUESTION, k=6, explain=True)
    below = await world.searcher("fused").search(query, Trace())
    result = await world.searcher("reranked", over="fused").search(query, Trace())
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    assert [hit.chunk.id for hit in result.hits] != [hit.chunk.id for hit in below.hits]
    before = {hit.chunk.id: hit for hit in below.hits}
    for hit in result.hits:
        assert replace(hit, score=0.0) == replace(before[hit.chunk.id], score=0.0)
    assert (result.linked, result.generation) == (below.linked, below.generation)


async def test_the_title_is_judged_with_the_text_of_as_many_as_the_depth_says(
    world: World, server: RerankServer
) -> None:
    result = await world.searcher("reranked", over="dense", depth=4).search(world.query(QUESTION, k=2), Trace())
    [request] = server.requests
    assert len(result.hits) == 2
    assert len(request.body["documents"]) == 4
    assert request.body["query"] == QUESTION
    assert set(request.body["documents"]) <= {passage.embedded for passage in PASSAGES}


async def test_contributions_that_do_not_sum_to_the_score_are_left_out(world: World) -> None:
    query = world.query(QUESTION, contributions=True)
    assert all(not hit.contributions for hit in (await world.searcher("reranked").search(query, Trace())).hits)


async def test_relations_of_passages_that_fell_out_fall_out(world: World) -> None:
    triples = (("Hank Snow", "married", "Minnie Aalders"),)
    await world.put([replace(PASSAGES[1], key="m", text="A long text about " + "Hank Snow " * 9, triples=triples)])
    query = world.query("Whom did Hank Snow marry?", k=2, facts=True)
    assert (await world.searcher("fine").search(replace(query, k=9), Trace())).facts
    result = await world.searcher("reranked", over="fine").search(query, Trace())
    assert "m" not in {hit.document.key for hit in result.hits}
    assert result.facts == ()


async def test_an_option_of_the_searcher_below_may_be_given(world: World) -> None:
    world.searcher("reranked", over="bridged:ranker=six")
    with pytest.raises(InvalidStrategy, match="dampng"):
        world.searcher("reranked", over="fused:dampng=1")


def test_reranking_twice_and_an_unknown_searcher_are_refused(world: World) -> None:
    for over in ("reranked", "reranked:over=dense"):
        with pytest.raises(InvalidStrategy, match="cannot wrap itself"):
            world.searcher("reranked", over=over)
    with pytest.raises(InvalidStrategy, match="no searcher 'nothing'"):
        world.searcher("reranked", over="nothing")


async def test_without_a_reranker_the_setting_is_named(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        with pytest.raises(InvalidStrategy, match="HOPWEAVE_RERANKER__KIND"):
            world.searcher("reranked")


async def test_a_reranker_that_is_down_is_an_error_and_no_silent_fallback(world: World, server: RerankServer) -> None:
    server.script.append(Reply(status=503, body="loading"))
    with pytest.raises(Unavailable, match="503: loading"):
        await world.searcher("reranked").search(world.query(QUESTION), Trace())


class TestReranked(NamedSearcherContract):
    name = "reranked"

    @pytest.fixture
    def parts(self) -> Iterator[dict[str, Any]]:
        with RerankServer() as server:
            yield {"reranker": HttpReranker(url=server.address)}


class TestRerankedOverDense(TestReranked):
    options = {"over": "dense", "depth": 10}  # noqa: RUF012 - never written to
