"""Exploration of the graph: finding entities, their facts and passages, subgraphs, and ways between two."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from core import ids
from core.corpora import Fine
from core.errors import InvalidInput, NotFound
from core.text.entity_types import EntityType
from core.text.names import normalise
from retrieval.exploration import (
    EdgeKind,
    Match,
    NodeKind,
    Scope,
    draw_neighbourhood,
    find_entities,
    find_ways,
    open_scope,
    show_entity,
)
from retrieval.exploration.finding import find_close_names
from retrieval.exploration.neighbourhood import _MAX_NODES, _find_paths, _visit
from retrieval.graph.adjacency import build_adjacency
from testing.indexed_corpus import Passage
from tests.searching import World, open_world


def stating(key: str, title: str, *triples: tuple[str, str, str]) -> Passage:
    """A passage that names nothing but by its facts."""
    return Passage(key=key, title=title, text="this and that", triples=triples)


PASSAGES = (
    stating("1", "one", ("Zabriel", "was printed by", "Orlo Quent"), ("Zabriel", "was sold in", "Umber Street")),
    stating("2", "two", ("Orlo Quent", "was born in", "Marrowby")),
    stating("3", "three", ("Marrowby", "is a town of", "Tessaly"), ("Zabriel", "was printed by", "Orlo Quent")),
    stating("4", "four", ("Zábriel", "is", "Orlo Quent Junior"), ("Ochre", "is", "Warm")),
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(PASSAGES)
        yield world


@pytest.fixture
async def scope(world: World) -> Scope:
    return await open_scope(world.backends, world.corpus)


def id_of(name: str) -> str:
    return ids.entity_id(normalise(name))


async def found_by(scope: Scope, name: str, limit: int = 20) -> list[tuple[str, Match]]:
    return [(one.entity.name, one.match) for one in await find_entities(scope, name, limit=limit)]


async def test_a_name_is_found_exactly_in_other_spellings_and_as_a_part(scope: Scope) -> None:
    assert await found_by(scope, "zabriel") == [("Zabriel", Match.EXACT), ("Zábriel", Match.SPELLING)]
    assert await found_by(scope, "ORLO QUENT") == [("Orlo Quent", Match.EXACT), ("Orlo Quent Junior", Match.PART)]
    assert await found_by(scope, "quent", limit=1) == [("Orlo Quent", Match.PART)]
    assert await found_by(scope, "nobody") == []


async def test_without_a_name_the_most_mentioned_come_first(scope: Scope) -> None:
    found = await find_entities(scope, "", limit=3)
    assert [(one.entity.name, one.entity.passages, one.match) for one in found] == [
        ("Orlo Quent", 3, Match.ANY),
        ("Marrowby", 2, Match.ANY),
        ("Zabriel", 2, Match.ANY),
    ]
    assert len(await find_entities(scope, "", limit=100)) == 13


TYPED = (
    stating("1", "one", ("Zabriel", "is", "city"), ("Orlo", "was born in", "Zabriel")),
    stating("2", "two", ("Zabriel", "is", "novelist"), ("Umber", "is", "river")),
    stating("3", "three", ("Zabriel", "is a town of", "Tessaly"), ("Quent Works Inc.", "made", "lamps")),
)


async def types_in(scope: Scope) -> dict[str, EntityType | None]:
    return {one.entity.name: one.entity.type for one in await find_entities(scope, "", limit=100)}


async def test_types_come_from_names_and_facts(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        await world.put(TYPED)
        scope = await open_scope(world.backends, world.corpus)
        types = await types_in(scope)
        assert {name: types[name] for name in ("Zabriel", "Orlo", "Umber", "Quent Works Inc.", "Tessaly")} == {
            "Zabriel": EntityType.PLACE,
            "Orlo": EntityType.PERSON,
            "Umber": EntityType.PLACE,
            "Quent Works Inc.": EntityType.ORGANISATION,
            "Tessaly": None,
        }
        (alone,) = [one.entity for one in await find_entities(scope, "zabriel", limit=1)]
        details = await show_entity(scope, id_of("Orlo"), facts=10, passages=0)
        assert alone.type is details.facts[0].object.type == EntityType.PLACE
        assert details.entity.type == EntityType.PERSON


async def test_entities_of_a_type_are_found(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        await world.put(TYPED)
        scope = await open_scope(world.backends, world.corpus)

        async def of(type: EntityType, name: str = "", limit: int = 20) -> list[str]:
            return [one.entity.name for one in await find_entities(scope, name, limit=limit, type=type)]

        assert await of(EntityType.PLACE) == ["Zabriel", "Umber"]
        assert await of(EntityType.PLACE, limit=1) == ["Zabriel"]
        assert await of(EntityType.ORGANISATION) == ["Quent Works Inc."]
        assert await of(EntityType.ORGANISATION, "umber") == []
        assert await of(EntityType.PLACE, "umber") == ["Umber"]


async def test_a_documents_votes_go_with_it(tmp_path: Path) -> None:
    async with open_world(tmp_path / "all") as world, open_world(tmp_path / "fewer") as fewer:
        await world.put(TYPED)
        await fewer.put(TYPED[1:2])
        held = await types_in(await open_scope(fewer.backends, fewer.corpus))
        assert held["Zabriel"] == EntityType.PERSON
        assert held == await types_in(await open_scope(world.backends, world.corpus, frozenset([ids.document_id("2")])))
        await world.remove(["1", "3"])
        assert held == await types_in(await open_scope(world.backends, world.corpus))


async def test_similar_names_are_found_where_names_have_vectors(tmp_path: Path) -> None:
    async with open_world(tmp_path / "fine", fine=Fine.ON) as world:
        await world.put(PASSAGES)
        found = await find_entities(await open_scope(world.backends, world.corpus), "Quent Orlo", limit=5)
        assert (found[0].entity.name, found[0].match) == ("Orlo Quent", Match.SIMILAR)
        assert found[0].similarity == pytest.approx(1, abs=1e-5)
        assert {one.match for one in found} == {Match.SIMILAR}


async def test_similar_names_of_disabled_documents_leave_room_for_the_others(tmp_path: Path) -> None:
    async with open_world(tmp_path / "fine", fine=Fine.ON) as world:
        disabled = [Passage(key=f"disabled {i}", title=f"Quent Orlo x{i}", text="is there") for i in range(12)]
        await world.put([*disabled, Passage(key="left", title="Quent Orlo Tell Bray", text="is there")])
        chosen = [ids.document_id(passage.key) for passage in disabled]
        await world.record.submissions.set_enabled(world.corpus.id, chosen, enabled=False)
        found = await find_entities(await open_scope(world.backends, world.corpus), "Orlo Quent", limit=2)
        assert [(one.entity.name, one.match) for one in found] == [("Quent Orlo Tell Bray", Match.SIMILAR)]


async def test_an_entity_has_its_facts_with_what_asserts_them(scope: Scope, world: World) -> None:
    details = await show_entity(scope, id_of("Zabriel"), facts=10, passages=10)
    assert (details.entity.name, details.entity.passages, details.fact_count) == ("Zabriel", 2, 2)
    stated = [(fact.subject.name, fact.predicate, fact.object.name, len(fact.chunk_ids)) for fact in details.facts]
    assert stated == [("Zabriel", "was printed by", "Orlo Quent", 2), ("Zabriel", "was sold in", "Umber Street", 1)]
    assert {one.document.key for one in details.passages} == {"1", "3"}
    read = await world.record.contents.get_chunks(world.corpus.id, details.facts[0].chunk_ids)
    assert {chunk.document_id for chunk in read.values()} == {ids.document_id(key) for key in "13"}
    first = await show_entity(scope, id_of("Zabriel"), facts=1, passages=1)
    assert (first.facts, first.fact_count, len(first.passages)) == (details.facts[:1], 2, 1)


async def test_synonyms_are_shown(tmp_path: Path) -> None:
    async with open_world(tmp_path / "synonyms") as world:
        await world.put(PASSAGES, [("Zabriel", "Zábriel", 0.9)])
        scope = await open_scope(world.backends, world.corpus)
        for name, other in (("Zabriel", "Zábriel"), ("Zábriel", "Zabriel")):
            details = await show_entity(scope, id_of(name), facts=0, passages=0)
            assert [one.entity.name for one in details.synonyms] == [other]
            assert details.synonyms[0].score == pytest.approx(0.9)
        subgraph = await draw_neighbourhood(scope, id_of("Zabriel"), depth=1, limit=50)
        assert [(edge.kind, edge.label, edge.chunk_id) for edge in subgraph.edges if edge.kind is EdgeKind.SYNONYM] == [
            (EdgeKind.SYNONYM, "", "")
        ]


async def test_only_what_the_chosen_documents_state_is_there(world: World) -> None:
    scope = await open_scope(world.backends, world.corpus, frozenset([ids.document_id("1")]))
    details = await show_entity(scope, id_of("Zabriel"), facts=10, passages=10)
    assert details.entity.passages == 1
    assert [len(fact.chunk_ids) for fact in details.facts] == [1, 1]
    assert {one.document.key for one in details.passages} == {"1"}
    assert await found_by(scope, "Marrowby") == []
    with pytest.raises(NotFound, match="no entity with the id"):
        await show_entity(scope, id_of("Marrowby"), facts=10, passages=10)
    subgraph = await draw_neighbourhood(scope, id_of("Zabriel"), depth=6, limit=50)
    assert {node.label for node in subgraph.nodes} == {"Zabriel", "Orlo Quent", "Umber Street", "one"}
    with pytest.raises(NotFound):
        await find_ways(scope, id_of("Zabriel"), id_of("Tessaly"), limit=3)


async def test_an_unknown_id_is_not_found(scope: Scope) -> None:
    for unknown in ("", "x", "ß" * 40, "f" * 32):
        with pytest.raises(NotFound, match="there is no entity with the id"):
            await show_entity(scope, unknown, facts=1, passages=1)


async def test_the_neighbourhood_is_connected_and_names_its_edges(scope: Scope) -> None:
    subgraph = await draw_neighbourhood(scope, id_of("Zabriel"), depth=1, limit=50)
    labels = {node.id: node.label for node in subgraph.nodes}
    assert subgraph.nodes[0].label == "Zabriel"
    assert {(node.label, node.kind, node.distance) for node in subgraph.nodes} == {
        ("Zabriel", NodeKind.ENTITY, 0),
        ("Orlo Quent", NodeKind.ENTITY, 1),
        ("Umber Street", NodeKind.ENTITY, 1),
        ("one", NodeKind.PASSAGE, 1),
        ("three", NodeKind.PASSAGE, 1),
    }
    facts = [edge for edge in subgraph.edges if edge.kind is EdgeKind.FACT]
    assert {(labels[edge.source], edge.label, labels[edge.target]) for edge in facts} == {
        ("Zabriel", "was printed by", "Orlo Quent"),
        ("Zabriel", "was sold in", "Umber Street"),
    }
    assert all(edge.chunk_id for edge in subgraph.edges)
    assert not subgraph.truncated


@pytest.mark.parametrize("limit", [1, 2, 4, 7])
async def test_the_neighbourhood_has_no_more_nodes_than_asked_for(scope: Scope, limit: int) -> None:
    subgraph = await draw_neighbourhood(scope, id_of("Zabriel"), depth=6, limit=limit)
    assert len(subgraph.nodes) == limit
    assert subgraph.truncated
    reached = {subgraph.nodes[0].id}
    for node in subgraph.nodes[1:]:
        ends = [{edge.source, edge.target} for edge in subgraph.edges]
        assert any(node.id in end and end & reached for end in ends), "each node is linked to an earlier one"
        reached.add(node.id)


def told(ways: Sequence[object]) -> list[list[tuple[str, str, str]]]:
    return [[(step.source, step.relation, step.target) for step in way.steps] for way in ways]  # type: ignore[attr-defined]


async def test_the_shortest_way_comes_first(scope: Scope) -> None:
    found = await find_ways(scope, id_of("Zabriel"), id_of("Tessaly"), limit=5)
    ways = told(found.ways)
    through_passages = [("Zabriel", "mentions", "three"), ("three", "mentions", "Tessaly")]
    assert ways[0] == through_passages, "two edges are shorter than three facts"
    assert [len(way) for way in ways] == sorted(len(way) for way in ways)
    assert found.complete
    assert all(step.chunk_id for way in found.ways for step in way.steps)
    assert (await find_ways(scope, id_of("Zabriel"), id_of("Tessaly"), limit=1)).ways == found.ways[:1]


async def test_a_passage_has_a_label_without_a_title_and_is_told_from_an_entity(world: World) -> None:
    await world.put([stating("plain.txt", "", ("Vessel", "carries", "Cargo"))])
    scope = await open_scope(world.backends, world.corpus)
    subgraph = await draw_neighbourhood(scope, id_of("Vessel"), depth=1, limit=50)
    assert [node.label for node in subgraph.nodes if node.kind is NodeKind.PASSAGE] == ["plain.txt"]
    await world.put([stating("other.txt", "", ("Cargo", "is", "Zabriel"))])
    scope = await open_scope(world.backends, world.corpus)
    ways = (await find_ways(scope, id_of("Vessel"), id_of("Zabriel"), limit=9)).ways
    ends = {(step.target, step.target_kind) for way in ways for step in way.steps}
    assert ("plain.txt", NodeKind.PASSAGE) in ends
    assert ("Cargo", NodeKind.ENTITY) in ends
    assert "" not in {label for label, _ in ends}


async def test_there_may_be_no_way(scope: Scope) -> None:
    found = await find_ways(scope, id_of("Zabriel"), id_of("Ochre"), limit=3)
    assert (found.ways, found.complete) == ((), True)


async def test_a_way_needs_two_ends(scope: Scope) -> None:
    with pytest.raises(InvalidInput, match="name two entities"):
        await find_ways(scope, id_of("Zabriel"), id_of("Zabriel"), limit=3)


async def test_a_search_that_is_cut_short_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.exploration.neighbourhood._MAX_NODES", 3)
    async with open_world(tmp_path / "short") as world:
        await world.put(PASSAGES)
        scope = await open_scope(world.backends, world.corpus)
        assert not (await find_ways(scope, id_of("Umber Street"), id_of("Tessaly"), limit=3)).complete


def test_an_entity_with_many_neighbours_does_not_make_the_search_long() -> None:
    """The neighbours of the hub are more than are visited; the other end, which has few of its own, is among them."""
    spokes = np.arange(1, 4 * _MAX_NODES, dtype=np.int64)
    paired = spokes[:-1:2]  # all but the last two spokes have a neighbour beside the hub
    first = np.concatenate([np.zeros_like(spokes), paired])
    second = np.concatenate([spokes, paired + 1])
    graph = build_adjacency(len(spokes) + 1, first, second, np.ones(len(first), np.float32))
    visited, whole = _visit(graph, 0, 4)
    assert len(visited) <= _MAX_NODES
    assert not whole
    paths, complete = _find_paths(graph, 0, int(spokes[-1]), 1)
    assert paths == [[0, int(spokes[-1])]]
    assert not complete


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Marowby", ["Marrowby"]),
        ("Maorrwby", ["Marrowby"]),
        ("Orlo Qunet", ["Orlo Quent"]),
        ("umbre streat", ["Umber Street"]),
        ("Streat", ["Umber Street"]),
        ("Xylophone", []),
        ("x" * 200, []),
    ],
)
async def test_names_with_typos_are_found_if_nothing_else_is(scope: Scope, name: str, expected: list[str]) -> None:
    found = await find_entities(scope, name, limit=5)
    assert [(one.entity.name, one.match) for one in found] == [(entity, Match.CLOSE) for entity in expected]
    assert all(0.7 < (one.similarity or 0) < 1 for one in found)


async def test_the_closest_names_come_first_and_a_filter_holds(world: World) -> None:
    await world.put([stating("5", "five", ("Marrowbyne", "is near", "Marrowbye"))])
    scope = await open_scope(world.backends, world.corpus)
    assert [name for name, _ in await found_by(scope, "Marrobye")] == ["Marrowbye", "Marrowbyne", "Marrowby"]
    only = await open_scope(world.backends, world.corpus, frozenset({ids.document_id("5")}))
    assert [name for name, _ in await found_by(only, "Marrobye")] == ["Marrowbye", "Marrowbyne"]


def test_of_many_names_the_close_ones_are_found_in_every_block() -> None:
    names = [f"name {number:06}" for number in range(50_000)]
    names[0] = names[20_000] = names[49_999] = "zanzibar"
    assert find_close_names("zanzibra", names) == [(0, 0.875), (20_000, 0.875), (49_999, 0.875)]
