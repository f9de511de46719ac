"""What a hit's score is made of sums to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core import ids
from core.ports.retrieval import Hit
from core.trace import Trace
from retrieval.bridged.ranker import load_ranker
from testing.contracts.searcher import PASSAGES, QUESTION
from tests.searching import World, open_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(PASSAGES)
        yield world


async def hits(world: World, ranker: str, documents: frozenset[str] | None = None) -> tuple[Hit, ...]:
    query = world.query(QUESTION, k=6, contributions=True, documents=documents)
    return (await world.searcher("bridged", ranker=ranker).search(query, Trace())).hits


PLAIN = {"plain_cosine", "plain_bm25", "plain_stems", "plain_neighbour"}


@pytest.mark.parametrize(("ranker", "beside"), [("full", {"trees"}), ("six", set[str]())])
async def test_the_parts_sum_to_the_score(world: World, ranker: str, beside: set[str]) -> None:
    found = await hits(world, ranker)
    assert len(found) == 6
    for hit in found:
        assert {*load_ranker(ranker).features, *beside, "exact"} <= set(hit.contributions)
        assert set(hit.contributions) - PLAIN == {*load_ranker(ranker).features, *beside, "exact"}
        assert sum(hit.contributions.values()) == pytest.approx(hit.score, abs=1e-9)
        assert not hit.reasons
    assert any(value for name, value in found[0].contributions.items() if name not in PLAIN | beside)


async def test_where_no_name_leads_on_the_plain_signals_sum_to_the_score(world: World) -> None:
    found = await hits(world, "full", frozenset(map(ids.document_id, "de")))
    assert len(found) == 2
    for hit in found:
        assert set(hit.contributions) == PLAIN | {"exact"}
        assert sum(hit.contributions.values()) == pytest.approx(hit.score, abs=1e-9)
