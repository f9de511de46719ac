"""Merged entities in searches and exploration: two are one, as if the documents had one name; undone, they are two."""

from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import ids
from core.errors import InvalidInput
from core.ports.retrieval import Query
from core.text.names import normalise
from core.trace import Trace
from retrieval.exploration import Match, draw_neighbourhood, find_entities, find_ways, open_scope, show_entity
from retrieval.graph.snapshot import build_snapshot
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

GALBRAITH_WROTE = ("Robert Galbraith", "wrote", "The Cuckoo Line")
ROWLEY_WAS_BORN = ("Joanna Rowley", "was born in", "Yate Minor")
BORN = "Near the sea, Joanna Rowley was born in Yate Minor."
PASSAGES = (
    Passage(
        key="1", title="Works", text="In 1850, Robert Galbraith wrote The Cuckoo Line.", triples=(GALBRAITH_WROTE,)
    ),
    Passage(key="2", title="A Birth", text=BORN, triples=(ROWLEY_WAS_BORN,)),
    Passage(key="3", title="A Town", text="Above the river lies Yate Minor with Old Sodbury."),
    Passage(key="4", title="Others", text="Far away, Peter Quill met Anna Thorne near Lake Vost."),
)
SEARCHERS = ("graph", "fused", "bridged", "fine")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(PASSAGES)
        yield world


def id_of(name: str) -> str:
    return ids.entity_id(normalise(name))


GALBRAITH, ROWLEY = id_of("Robert Galbraith"), id_of("Joanna Rowley")


async def merge(world: World, from_id: str = GALBRAITH, into_id: str = ROWLEY) -> str:
    return (await world.record.merges.merge(world.corpus.id, from_id, into_id)).id


async def search(world: World, text: str, searcher: str, **options: Any) -> Any:
    query = Query(corpus=world.corpus, text=text, k=4, explain=True, facts=True)
    return await world.searcher(searcher, **options).search(query, Trace())


async def found_by(world: World, name: str) -> list[tuple[str, str, Match]]:
    scope = await open_scope(world.backends, world.corpus)
    return [(one.entity.id, one.entity.name, one.match) for one in await find_entities(scope, name, limit=5)]


async def test_either_name_finds_the_one_entity(world: World) -> None:
    await merge(world)
    for name in ("Robert Galbraith", "Joanna Rowley"):
        assert await found_by(world, name) == [(ROWLEY, "Joanna Rowley", Match.EXACT)]
    assert await found_by(world, "róbert galbraith") == [(ROWLEY, "Joanna Rowley", Match.SPELLING)]
    assert await found_by(world, "galbr") == [(ROWLEY, "Joanna Rowley", Match.PART)]
    scope = await open_scope(world.backends, world.corpus)
    for id in (GALBRAITH, ROWLEY):
        details = await show_entity(scope, id, facts=9, passages=9)
        assert (details.entity.id, details.entity.name, details.entity.passages) == (ROWLEY, "Joanna Rowley", 2)
        assert [(one.id, one.name) for one in details.merged] == [(GALBRAITH, "Robert Galbraith")]
        facts = {(fact.subject.name, fact.predicate, fact.object.name) for fact in details.facts}
        assert facts == {("Joanna Rowley", "wrote", "The Cuckoo Line"), ("Joanna Rowley", "was born in", "Yate Minor")}
    drawn = await draw_neighbourhood(scope, GALBRAITH, depth=1, limit=9)
    assert {edge.label for edge in drawn.edges if edge.label} == {"wrote", "was born in"}
    assert all(edge.source == ROWLEY for edge in drawn.edges if edge.label)


@pytest.mark.parametrize("searcher", SEARCHERS)
async def test_pagerank_passes_through_the_one_entity(world: World, searcher: str) -> None:
    question = "Where was the writer of The Cuckoo Line born?"
    before = await search(world, question, searcher)
    mass = {hit.document.key: hit.signals.graph or 0.0 for hit in before.hits}
    assert mass.get("2", 0.0) == 0.0
    id = await merge(world)
    merged = await search(world, question, searcher)
    assert {hit.document.key: hit.signals.graph for hit in merged.hits}["2"] > 0
    path = next(hit.path for hit in merged.hits if hit.document.key == "2")
    assert "The Cuckoo Line" in (path[0].source, path[0].target)
    assert "Joanna Rowley" in {step.source for step in path} | {step.target for step in path}
    assert any(fact.subject == "Joanna Rowley" and fact.predicate == "wrote" for fact in merged.facts)
    await world.record.merges.undo(world.corpus.id, id)
    undone = await search(world, question, searcher)
    assert [asdict(hit) for hit in undone.hits] == [asdict(hit) for hit in before.hits]
    assert (undone.facts, undone.linked) == (before.facts, before.linked)


async def test_a_way_leads_through_the_one_entity(world: World) -> None:
    async def ways() -> int:
        scope = await open_scope(world.backends, world.corpus)
        return len((await find_ways(scope, id_of("The Cuckoo Line"), id_of("Yate Minor"), limit=1)).ways)

    assert await ways() == 0
    await merge(world)
    assert await ways() == 1
    scope = await open_scope(world.backends, world.corpus)
    with pytest.raises(InvalidInput, match="merged into one entity; name two"):
        await find_ways(scope, GALBRAITH, ROWLEY, limit=1)


async def test_chains_are_one_entity_and_come_apart_in_any_order(world: World) -> None:
    quill = id_of("Peter Quill")
    first, second = await merge(world), await merge(world, ROWLEY, quill)
    assert await found_by(world, "Robert Galbraith") == [(quill, "Peter Quill", Match.EXACT)]
    await world.record.merges.undo(world.corpus.id, first)
    assert await found_by(world, "Robert Galbraith") == [(GALBRAITH, "Robert Galbraith", Match.EXACT)]
    assert await found_by(world, "Joanna Rowley") == [(quill, "Peter Quill", Match.EXACT)]
    await world.record.merges.undo(world.corpus.id, second)
    assert await found_by(world, "Joanna Rowley") == [(ROWLEY, "Joanna Rowley", Match.EXACT)]


async def test_an_entity_whose_own_documents_are_deleted_is_there_by_the_others(world: World) -> None:
    await merge(world)
    scope = await open_scope(world.backends, world.corpus, frozenset({ids.document_id("1")}))
    (seen,) = await find_entities(scope, "Joanna Rowley", limit=5)
    assert seen.entity.passages == 1, "a filter leaves what its documents state"
    await world.remove(["2"])
    assert await found_by(world, "Joanna Rowley") == [(ROWLEY, "Robert Galbraith", Match.EXACT)]
    await world.remove(["1"])
    assert await found_by(world, "Joanna Rowley") == []
    await world.put(PASSAGES[:2])
    assert await found_by(world, "Robert Galbraith") == [(ROWLEY, "Joanna Rowley", Match.EXACT)]


async def test_a_snapshot_that_follows_is_the_one_that_is_built(world: World) -> None:
    snapshots = world.backends.snapshots
    await snapshots.get(world.corpus.id)
    id = await merge(world)
    left = Passage(key="5", title="Robert Galbraith", text="On Monday, Robert Galbraith left Yate Minor.")
    for change in (
        lambda: world.put([left]),
        lambda: world.remove(["1"]),
        lambda: world.put(PASSAGES[:1]),
        lambda: world.record.merges.undo(world.corpus.id, id),
    ):
        followed = await snapshots.get(world.corpus.id)
        built = build_snapshot(*(await world.record.graph.graph(world.corpus.id)))
        for name in ("entity_ids", "names", "mentions", "facts", "synonyms", "title_ids"):
            assert np.array_equal(getattr(followed.columns, name), getattr(built.columns, name)), name
        assert np.array_equal(followed.titles, built.titles)
        named = [sorted(zip(one.names.names, one.names.entity_of, strict=True)) for one in (followed, built)]
        assert named[0] == named[1]
        await change()
