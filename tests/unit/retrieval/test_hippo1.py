"""HippoRAG: its walk against a dense matrix and against masses by hand, what it links, and where it refuses."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import ids
from core.corpora import Fine
from core.errors import InvalidInput, InvalidStrategy
from core.ports.retrieval import NodeKind, SearchResult
from core.trace import Trace
from retrieval.hippo import entity_walk
from testing.contracts.searcher import PASSAGES
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

PROFESSORS = (
    Passage(key="thomas", title="p", text="one", triples=(("Stanford", "employs", "Thomas"),)),
    Passage(key="memory", title="p", text="two", triples=(("Thomas", "studies", "Alzheimer"),)),
    Passage(key="anna", title="p", text="three", triples=(("Stanford", "employs", "Anna"),)),
    Passage(key="ben", title="p", text="four", triples=(("Ben", "studies", "Alzheimer"),)),
)
"""Figure 1 of the paper: one professor at Stanford studies Alzheimer's disease, and no passage says both."""
NAMED = ("Stanford", "Alzheimer")
QUESTION = "Which professor at Stanford studies Alzheimer?"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path, fine=Fine.ON) as world:
        yield world


async def found(
    world: World, text: str = QUESTION, options: dict[str, Any] | None = None, **fields: Any
) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    searcher = world.searcher("hippo1", **{"ner": False, **(options or {})})
    return await searcher.search(world.query(text, **{"k": 9, **fields}), trace), trace.notes


def scores(result: SearchResult) -> dict[str, float]:
    return {hit.document.key: hit.score for hit in result.hits}


async def test_who_has_to_do_with_both_names_comes_first(world: World) -> None:
    """Anna – Stanford – Thomas – Alzheimer – Ben: the masses are 1/12, 1/3, 1/6, 1/3 and 1/12."""
    await world.put(PROFESSORS)
    result, notes = await found(world, entities=NAMED)
    assert notes == []
    expected = {"thomas": 1 / 2, "memory": 1 / 2, "anna": 5 / 12, "ben": 5 / 12}
    assert scores(result) == pytest.approx(expected)
    assert [hit.score for hit in result.hits] == sorted(scores(result).values(), reverse=True)
    assert all(hit.signals.graph == hit.score for hit in result.hits)
    assert result.linked == pytest.approx({"Stanford": 0.5, "Alzheimer": 0.5})


async def test_a_name_of_many_passages_weighs_less(world: World) -> None:
    more = Passage(key="cleo", title="p", text="five", triples=(("Stanford", "employs", "Cleo"),))
    await world.put([*PROFESSORS, more])
    result, _ = await found(world, entities=NAMED)
    assert result.linked == pytest.approx({"Stanford": 0.4, "Alzheimer": 0.6}), "1/3 and 1/2"
    assert scores(result)["memory"] > scores(result)["thomas"]


@pytest.mark.parametrize("damping", [0.1, 0.5, 0.9])
async def test_the_ranking_is_the_exact_one_of_a_dense_matrix(world: World, damping: float) -> None:
    """With facts that two passages assert, a synonym, a fact about one thing alone, and an entity without facts."""
    again = Passage(key="again", title="p", text="six", triples=(("Stanford", "employs", "Thomas"),) * 2)
    about_one = ("Dementia", "is", "Dementia"), ("Dementia", "troubles", "Ben"), ("Ben", "fears", "Dementia")
    other = Passage(key="other", title="Zebra", text="seven", triples=about_one)
    apart = Passage(key="apart", title="p", text="eight", triples=(("Quark", "is eaten by", "Xylo"),))
    await world.put([*PROFESSORS, again, other, apart], synonyms=[("Alzheimer", "Dementia", 0.85)])
    snapshot = await world.backends.snapshots.get(world.corpus.id, min_generation=None, trace=Trace())
    columns = snapshot.flat().columns
    names, size = list(columns.names), len(columns.entity_ids)
    weights = np.zeros((size, size))
    for _, subject, object_ in columns.facts:
        if subject != object_:
            weights[subject, object_] += 1
            weights[object_, subject] += 1
    for (first, second), cosine in zip(columns.synonyms, columns.scores, strict=True):
        weights[first, second] += cosine
        weights[second, first] += cosine
    df = np.bincount(columns.mentions[:, 1], minlength=size)
    reset = np.zeros(size)
    for name in ("stanford", "alzheimer"):
        reset[names.index(name)] = 1 / df[names.index(name)]
    reset /= reset.sum()
    degree = weights.sum(axis=1)
    step = np.divide(weights, degree[:, None], out=np.zeros_like(weights), where=degree[:, None] > 0)
    mass = np.linalg.solve(np.eye(size) - damping * step.T, (1 - damping) * reset)
    keys = {ids.document_id(key).encode(): key for key in ("thomas", "memory", "anna", "ben", "again", "other")}
    expected = dict.fromkeys(keys.values(), 0.0)
    for chunk, subject, object_ in columns.facts:
        if mass[subject] > 0:
            key = keys[columns.document_ids[columns.document_of[chunk]]]
            expected[key] += sum(mass[entity] for entity in {int(subject), int(object_)})

    result, notes = await found(world, options={"damping": damping}, entities=NAMED)
    assert notes == []
    assert scores(result) == pytest.approx(expected, rel=1e-6)
    assert "apart" not in scores(result), "no way leads there"


async def test_the_walk_goes_over_no_passage(world: World) -> None:
    """The passage of Thomas also mentions Quark, and states nothing about it."""
    mentioning = Passage(key="thomas", title="p", text="one", triples=PROFESSORS[0].triples, names=("Quark",))
    about = Passage(key="quark", title="p", text="five", triples=(("Quark", "is eaten by", "Xylo"),))
    await world.put([mentioning, *PROFESSORS[1:], about])
    assert "quark" not in scores((await found(world, entities=NAMED))[0])
    result, _ = await found(world, entities=("Stanford",), explain=True)
    paths = {hit.document.key: hit.path for hit in result.hits}
    assert [(step.source, step.relation, step.target) for step in paths["ben"]][:3] == [
        ("Stanford", "employs", "Thomas"),
        ("Thomas", "studies", "Alzheimer"),
        ("Alzheimer", "mentions", "p"),
    ]
    for path in paths.values():
        assert [step.target_kind for step in path] == [NodeKind.ENTITY] * (len(path) - 1) + [NodeKind.PASSAGE]


async def test_a_name_is_linked_to_the_most_similar_entity_that_a_fact_names(world: World) -> None:
    """However far it is, as published; an entity that is only mentioned is no node."""
    mentioned = Passage(key="m", title="Stanfords", text="a name without a fact")
    await world.put([*PROFESSORS, mentioned])
    assert set((await found(world, entities=("Stanfords",)))[0].linked) == {"Stanford"}
    assert len((await found(world, entities=("Qwertz Uiop",)))[0].linked) == 1


async def test_names_that_no_model_found_are_seen_in_the_text(world: World) -> None:
    await world.put(PROFESSORS)
    seen, _ = await found(world)
    given, _ = await found(world, entities=NAMED)
    assert seen == given


@pytest.mark.parametrize(
    ("entities", "documents", "why"),
    [
        ((), None, "the question names nothing"),
        (("", " "), None, "no fact of these documents names an entity"),
        (NAMED, frozenset({ids.document_id("plain")}), "no fact of these documents names an entity"),
    ],
)
async def test_without_a_linked_name_it_is_dense_and_says_so(
    world: World, entities: tuple[str, ...], documents: frozenset[str] | None, why: str
) -> None:
    await world.put([*PROFESSORS, Passage(key="plain", title="Stanford", text="a place")])
    result, notes = await found(world, entities=entities, documents=documents)
    dense = await world.searcher("dense").search(world.query(QUESTION, k=9, documents=documents), Trace())
    assert result == dense
    assert notes == [f"hippo1: {why}; ranked by cosine (dense) instead"]


async def test_a_filter_leaves_the_facts_of_its_documents_alone(world: World) -> None:
    await world.put(PROFESSORS)
    chosen = frozenset(ids.document_id(key) for key in ("thomas", "anna"))
    result, _ = await found(world, entities=("Stanford",), documents=chosen)
    assert scores(result) == pytest.approx({"thomas": 5 / 6, "anna": 5 / 6}), "2/3 and 1/6"


async def test_facts_come_with_the_passages_that_assert_them(world: World) -> None:
    await world.put(PROFESSORS)
    result, _ = await found(world, entities=NAMED, facts=True)
    assert {fact[:3] for fact in result.facts} == {one.triples[0] for one in PROFESSORS}
    assert len((await found(world, options={"facts": 1}, entities=NAMED, facts=True))[0].facts) == 1


async def test_a_graph_that_is_too_large_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.put(PROFESSORS)
    monkeypatch.setattr(entity_walk, "MAX_EDGES", 3)
    with pytest.raises(InvalidInput, match=r"has 4 edges .* limited to 3: use the searcher hippo or graph"):
        await found(world, entities=NAMED)


async def test_without_facts_it_refuses_with_the_remedy(world: World) -> None:
    await world.put(PASSAGES)
    with pytest.raises(InvalidInput, match=r"hippo1: .* no vectors of facts .* fine=on or auto"):
        await found(world)


def test_without_a_model_only_finding_names_is_refused(world: World) -> None:
    with pytest.raises(InvalidStrategy, match="HOPWEAVE_LLM__MODEL"):
        world.searcher("hippo1")
    world.searcher("hippo1", ner=False)
