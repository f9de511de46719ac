"""Fine retrieval: which entities names are linked to, and which relations come back."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core import ids
from core.corpora import Fine
from core.ports.retrieval import SearchResult
from core.trace import Trace
from testing.contracts.searcher import PASSAGES
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

MARRIED = Passage(
    key="m", title="Minnie", text="they wed in 1935",
    triples=(("Hank Snow", "married", "Minnie Aalders"), ("Zebra", "eats", "Grass")),
)  # fmt: skip
BORN = Passage(key="n", title="Liverpool", text="a town", triples=(("Hank Snow", "was born in", "Liverpool"),))
AGAIN = Passage(key="o", title="Minnie again", text="once more", triples=MARRIED.triples[:1])


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path, fine=Fine.ON) as world:
        await world.put([*PASSAGES, MARRIED, BORN, AGAIN])
        yield world


async def found(
    world: World, text: str, options: dict[str, Any] | None = None, **fields: Any
) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    searcher = world.searcher("fine", **options or {})
    return await searcher.search(world.query(text, **{"k": 9, "facts": True, **fields}), trace), trace.notes


async def test_a_misspelt_name_is_linked_to_the_nearest_entity(world: World) -> None:
    result, notes = await found(world, "Did Hank Snowe sing?")
    assert set(result.linked) == {"Hank Snow"}
    assert notes == []
    assert "b" in {hit.document.key for hit in result.hits}
    assert all(hit.signals.graph is not None for hit in result.hits)


async def test_the_names_that_a_model_found_stand_in_for_those_in_the_text(world: World) -> None:
    result, _ = await found(world, "Did Hank Snow sing?", entities=("publix",))
    assert set(result.linked) == {"Publix"}


async def test_each_name_is_linked_to_as_many_entities_as_are_asked_for(world: World) -> None:
    one, _ = await found(world, "", {"min_similarity": 0.0}, entities=("Hank Snow",))
    two, _ = await found(world, "", {"min_similarity": 0.0, "nearest": 2}, entities=("Hank Snow",))
    assert set(one.linked) == {"Hank Snow"}
    assert set(one.linked) < set(two.linked)
    assert len(two.linked) == 2


@pytest.mark.parametrize("entities", [(), ("Qwertz Uiop",), ("", "  ")])
async def test_without_a_linked_entity_it_is_dense_and_says_so(world: World, entities: tuple[str, ...]) -> None:
    result, notes = await found(world, "what is made of flour?", entities=entities)
    dense = await world.searcher("dense").search(world.query("what is made of flour?", k=9), Trace())
    assert [hit.chunk.id for hit in result.hits] == [hit.chunk.id for hit in dense.hits]
    assert result.facts == ()
    assert any("dense" in note for note in notes)


async def test_without_vectors_of_entities_it_links_by_name_and_says_so(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        await world.put([*PASSAGES, MARRIED])
        for entities in (None, ("HANK SNOW",)):
            result, notes = await found(world, "Did Hank Snow sing?", entities=entities)
            assert set(result.linked) == {"Hank Snow"}
            assert notes == ["fine: this corpus has no vectors of entities; linked by name"]


async def test_facts_come_with_the_passages_that_assert_them(world: World) -> None:
    result, _ = await found(world, "Whom did Hank Snow marry?")
    assert {fact[:3] for fact in result.facts} == {
        ("Hank Snow", "married", "Minnie Aalders"),
        ("Hank Snow", "was born in", "Liverpool"),
        ("Zebra", "eats", "Grass"),
    }, "each once; the passage about Minnie leads to the zebra"
    none, _ = await found(world, "Whom did Hank Snow marry?", {"facts": 0})
    assert none.facts == ()


async def test_an_entity_that_the_filter_hides_is_passed_over_for_the_next(world: World) -> None:
    chosen = frozenset({ids.document_id("f"), ids.document_id("e")})
    result, _ = await found(world, "", {"min_similarity": 0.0}, entities=("Hank Snow",), documents=chosen)
    assert result.linked
    assert "Hank Snow" not in result.linked
    assert {hit.document.key for hit in result.hits} <= {"e", "f"}


async def test_a_path_leads_from_the_linked_entity(world: World) -> None:
    result, _ = await found(world, "Did Hank Snowe sing?", explain=True)
    assert {hit.path[0].source for hit in result.hits if hit.path} == {"Hank Snow"}
