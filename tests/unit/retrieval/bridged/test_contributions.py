"""What a hit's score is made of sums to it."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from core import ids
from core.ports.retrieval import Hit
from core.trace import Trace
from retrieval.bridged.contributions import split_ranker_score
from retrieval.bridged.ranker_file import SHIPPED, load_ranker
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


@pytest.mark.parametrize(("ranker", "beside"), [("full", "trees"), ("six", "mean")])
async def test_the_features_sum_to_the_score(world: World, ranker: str, beside: str) -> None:
    found = await hits(world, ranker)
    assert len(found) == 6
    for hit in found:
        assert set(hit.contributions) == {*load_ranker(ranker).features, beside}
        assert sum(hit.contributions.values()) == pytest.approx(hit.score, abs=1e-9)
        assert not hit.reasons
    assert any(value for name, value in found[0].contributions.items() if name != beside)


async def test_where_stage_1_ranked_its_signals_sum_to_the_score(world: World) -> None:
    found = await hits(world, "full", frozenset(map(ids.document_id, "de")))
    assert len(found) == 2
    for hit in found:
        assert set(hit.contributions) == {"dense", "sparse", "graph"}
        assert sum(hit.contributions.values()) == pytest.approx(hit.score, abs=1e-9)


@pytest.mark.parametrize("ranker", SHIPPED)
@pytest.mark.parametrize("alike", [True, False])
def test_also_where_no_candidate_differs(ranker: str, alike: bool) -> None:
    loaded = load_ranker(ranker)
    size = len(loaded.features)
    features = np.full((4, size), 0.25) if alike else np.random.default_rng(0).random((4, size))
    parts = split_ranker_score(loaded, features)
    np.testing.assert_allclose(sum(parts.values()), loaded.score(features), atol=1e-9)
