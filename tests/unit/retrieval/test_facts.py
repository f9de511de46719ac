"""The facts that come with hits: which, in what order, by which searchers, and when none are read."""

from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Fine
from core.ports.record import Contents, FactRow
from core.ports.retrieval import Fact
from core.trace import Trace
from testing.contracts.searcher import PASSAGES
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

QUESTION = "In which country was the printer of Zabriel born?"
GRAPH_SEARCHERS = ["graph", "fused", "bridged", "fine"]


def stating(key: str, title: str, *triples: tuple[str, str, str]) -> Passage:
    """A passage that leads nowhere but by its facts."""
    return Passage(key=key, title=title, text="this and that", triples=triples)


CHAIN = (
    stating("1", "Zabriel", ("Zabriel", "was printed by", "Orlo Quent"), ("Zabriel", "was sold in", "Umber Street")),
    stating("2", "Orlo Quent", ("Orlo Quent", "was born in", "Marrowby"), ("Cinnabar", "is", "Red")),
    stating("3", "Marrowby", ("Marrowby", "is a town of", "Tessaly"), ("Cinnabar", "costs", "Gold")),
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path, fine=Fine.ON) as world:
        await world.put([*PASSAGES, *CHAIN])
        yield world


async def facts_of(world: World, searcher: str, options: dict[str, Any] | None = None, **fields: Any) -> list[Fact]:
    query = world.query(QUESTION, **{"k": 6, "facts": True, **fields})
    return list((await world.searcher(searcher, **options or {}).search(query, Trace())).facts)


@pytest.mark.parametrize("searcher", GRAPH_SEARCHERS)
async def test_facts_several_hops_from_the_names_of_the_question_are_found(world: World, searcher: str) -> None:
    facts = await facts_of(world, searcher)
    assert {fact[:3] for fact in facts} >= {
        ("Zabriel", "was printed by", "Orlo Quent"),
        ("Orlo Quent", "was born in", "Marrowby"),
        ("Marrowby", "is a town of", "Tessaly"),
    }


async def test_the_first_of_each_passage_come_before_the_second_and_more_mass_before_less(world: World) -> None:
    facts = await facts_of(world, "graph")
    chunks = [fact.chunk_id for fact in facts]
    assert len(set(chunks[:3])) == 3
    assert [fact[:3] for fact in facts[:3]] == [
        ("Zabriel", "was printed by", "Orlo Quent"),
        ("Orlo Quent", "was born in", "Marrowby"),
        ("Marrowby", "is a town of", "Tessaly"),
    ]
    assert await facts_of(world, "graph", {"facts": 3}) == facts[:3]
    assert await facts_of(world, "graph", {"facts": 0}) == []


async def test_a_fact_that_nothing_leads_to_is_left_out(world: World) -> None:
    apart = Passage(key="4", title="Prints", text="the printer and the country", triples=(("Ochre", "is", "Warm"),))
    await world.put([apart])
    query = world.query(QUESTION, k=20, facts=True)
    result = await world.searcher("bridged").search(query, Trace())
    assert "4" in {hit.document.key for hit in result.hits}
    assert "Ochre" not in {fact.subject for fact in result.facts}


async def test_equal_facts_are_returned_once_with_the_best_hit(world: World) -> None:
    await world.put([stating("5", "Nearly nothing", ("Zabriel", "was printed by", "Orlo Quent"))])
    query = world.query(QUESTION, k=20, facts=True)
    result = await world.searcher("graph").search(query, Trace())
    (printed,) = [fact for fact in result.facts if fact.predicate == "was printed by"]
    asserting = [hit.chunk.id for hit in result.hits if hit.document.key in {"1", "5"}]
    assert len(asserting) == 2
    assert printed.chunk_id == asserting[0]


@pytest.mark.parametrize("searcher", GRAPH_SEARCHERS)
async def test_every_fact_is_of_a_hit(world: World, searcher: str) -> None:
    query = world.query(QUESTION, k=2, facts=True)
    result = await world.searcher(searcher).search(query, Trace())
    assert result.facts
    assert {fact.chunk_id for fact in result.facts} <= {hit.chunk.id for hit in result.hits}


class _Counting:
    """The contents of a record, with the number of times that facts were read."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._contents, name)

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        self.reads += 1
        return await self._contents.get_facts_of(corpus_id, chunk_ids)


@pytest.mark.parametrize("searcher", GRAPH_SEARCHERS)
async def test_nothing_is_read_unless_facts_are_asked_for_and_there(
    world: World, tmp_path: Path, searcher: str
) -> None:
    counting = _Counting(world.backends.contents)
    world.backends = replace(world.backends, contents=counting)
    assert await facts_of(world, searcher, facts=False) == []
    assert counting.reads == 0
    assert await facts_of(world, searcher)
    assert counting.reads == 1
    async with open_world(tmp_path / "other") as without:
        counting = _Counting(without.backends.contents)
        without.backends = replace(without.backends, contents=counting)
        await without.put(PASSAGES)
        assert await facts_of(without, searcher) == []
        assert counting.reads == 0
