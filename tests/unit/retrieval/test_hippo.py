"""HippoRAG 2: its reset vector, what the filter may do, and where it refuses."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import ids
from core.corpora import Fine
from core.errors import InvalidInput, InvalidStrategy
from core.ports.record import TripleRow
from core.ports.retrieval import SearchResult
from core.trace import Trace
from retrieval.hippo.fact_linking import LinkedFact, entity_weights, passage_weights
from testing.contracts.searcher import PASSAGES, QUESTION
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

OPTIONS = {"filter": False}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path, fine=Fine.ON, asserting=True) as world:
        await world.put(PASSAGES)
        yield world


async def found(
    world: World, text: str = QUESTION, options: dict[str, Any] | None = None, **fields: Any
) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    searcher = world.searcher("hippo", **OPTIONS | (options or {}))
    return await searcher.search(world.query(text, **{"k": 6, "facts": True, **fields}), trace), trace.notes


def fact(subject: int, object_: int, score: float) -> LinkedFact:
    triple = TripleRow(subject_id="", subject="", predicate="", object_id="", object="", chunk_ids=())
    return LinkedFact(triple=triple, subject=subject, object=object_, score=score)


def test_an_entity_weighs_the_mean_score_of_its_facts_by_the_passages_it_is_in() -> None:
    df = np.array([1, 4, 0, 2, 1, 1])
    facts = [fact(0, 1, 1.0), fact(1, 2, 0.5), fact(3, 3, 0.8), fact(4, 5, 0.0)]
    entities, weights = entity_weights(facts, df, 9)
    assert entities.tolist() == [0, 1, 2, 3], "what weighs nothing is no seed"
    assert weights.tolist() == pytest.approx([1.0, 0.75 / 4, 0.5, 0.8 / 2])


def test_only_the_heaviest_entities_count() -> None:
    entities, weights = entity_weights([fact(0, 1, 0.2), fact(2, 3, 0.9)], np.ones(4, np.int64), 3)
    assert entities.tolist() == [0, 2, 3]
    assert weights.tolist() == pytest.approx([0.2, 0.9, 0.9])


def test_passages_weigh_by_their_place_between_the_least_and_the_best_cosine() -> None:
    assert passage_weights(np.array([0.9, 0.5, 0.1]), 0.1, 0.05).tolist() == pytest.approx([0.05, 0.025, 0.0])
    assert passage_weights(np.array([0.9, 0.5]), 0.1, 0.05).tolist() == pytest.approx([0.05, 0.025])
    assert passage_weights(np.array([0.3]), 0.3, 0.05).tolist() == pytest.approx([0.05]), "where none differ"
    assert passage_weights(np.zeros(0), 0.3, 0.05).tolist() == []


async def test_the_ranking_is_that_of_pagerank_with_the_published_reset_vector(world: World) -> None:
    """By igraph, as the authors run it, over a reset vector that is made here from the vectors alone."""
    import igraph

    snapshot = await world.backends.snapshots.get(world.corpus.id, min_generation=None, trace=Trace())
    columns = snapshot.flat().columns
    chunks, entities = len(columns.chunk_ids), len(columns.entity_ids)
    names, question = list(columns.names), await world.embedder.embed_query(QUESTION)
    predicate = "has to do with"
    pairs = sorted({(int(s), int(o)) for _, s, o in columns.facts})
    embedded = await world.embedder.embed_passages([f"{names[s]} {predicate} {names[o]}" for s, o in pairs])
    scores = (embedded @ question).astype(np.float64)
    scores = (scores - scores.min()) / (scores.max() - scores.min())
    df = np.bincount(columns.mentions[:, 1], minlength=entities)
    sums, counts = np.zeros(entities), np.zeros(entities)
    for place in np.argsort(-scores)[:5]:
        for entity in pairs[place]:
            sums[entity] += scores[place] / df[entity]
            counts[entity] += 1
    weights = np.divide(sums, counts, out=np.zeros(entities), where=counts > 0)
    weights[np.argsort(-weights, kind="stable")[5:]] = 0
    texts = {ids.chunk_id(p.key, p.text, 0): p.embedded for p in PASSAGES}
    passages = await world.embedder.embed_passages([texts[one.decode()] for one in columns.chunk_ids])
    cosines = (passages @ question).astype(np.float64)
    dense = 0.05 * (cosines - cosines.min()) / (cosines.max() - cosines.min())
    edges = [(c, e + chunks, 1.0) for c, e, *_ in columns.mentions.tolist()]
    edges += [(s + chunks, o + chunks, 1.0) for _, s, o in columns.facts.tolist() if s != o]
    graph = igraph.Graph(n=chunks + entities, edges=[edge[:2] for edge in edges])
    expected = graph.personalized_pagerank(
        damping=0.5, directed=False, weights=[e[2] for e in edges], reset=[*dense, *weights], implementation="prpack"
    )[:chunks]

    result, notes = await found(world)
    assert notes == []
    mass = {hit.chunk.id: hit.score for hit in result.hits}
    assert [mass[one.decode()] for one in columns.chunk_ids] == pytest.approx(expected, rel=1e-4)


async def test_the_facts_that_were_followed_are_told_with_a_hit_that_asserts_them(world: World) -> None:
    result, _ = await found(world, options={"link_facts": 2, "facts": 2})
    assert len(result.facts) == 2
    asserted = {hit.chunk.id: hit.chunk.text for hit in result.hits}
    for _, predicate, object_, chunk_id in result.facts:
        assert predicate == "has to do with"
        assert object_ in asserted[chunk_id]
    assert 0 < len(result.linked) <= 2
    assert sum(result.linked.values()) == pytest.approx(1)


async def test_linked_facts_come_before_those_that_pagerank_reached(world: World) -> None:
    few, _ = await found(world, options={"link_facts": 2, "facts": 2})
    more, _ = await found(world, options={"link_facts": 2})
    assert more.facts[:2] == few.facts
    assert len(more.facts) > 2
    assert len({fact[:3] for fact in more.facts}) == len(more.facts)
    assert (await found(world, facts=False))[0].facts == ()
    assert (await found(world, options={"facts": 0}))[0].facts == ()


async def test_facts_that_the_filter_hides_are_passed_over(world: World) -> None:
    result, notes = await found(world, documents=frozenset({ids.document_id("f")}))
    assert [hit.document.key for hit in result.hits] == ["f"]
    assert notes == []
    assert {fact[0] for fact in result.facts} == {"Publix"}


async def test_fewer_seeds_change_little_and_the_scale_stays_that_of_all_passages(world: World) -> None:
    every, _ = await found(world)
    half, _ = await found(world, options={"passages": 3})
    assert [hit.chunk.id for hit in half.hits[:2]] == [hit.chunk.id for hit in every.hits[:2]]
    alone, _ = await found(world, options={"passage_weight": 0.0})
    assert {hit.chunk.id for hit in alone.hits} <= {hit.chunk.id for hit in every.hits}


async def test_a_name_of_too_many_passages_leads_to_none_and_a_note_tells(tmp_path: Path) -> None:
    """Passages have no weight as seeds here, so that each hit was reached from a fact's name."""
    town = ("Grand Hotel", "is in", "Old Town")
    guests = [
        Passage(key=f"g{n}", title=f"Guest {n}", text="a stay", triples=(("Grand Hotel", "houses", f"Guest {n}"), town))
        for n in range(12)
    ]
    seeds = {"passage_weight": 0.0, "link_facts": 1}
    async with open_world(tmp_path, fine=Fine.ON) as world:
        await world.put(guests)
        every, notes = await found(world, "Grand Hotel houses Guest 3", seeds, k=12)
        assert ({hit.document.key for hit in every.hits}, notes) == ({one.key for one in guests}, [])
        bounded, notes = await found(world, "Grand Hotel houses Guest 3", {**seeds, "hubs": 12}, k=12)
        assert ([hit.document.key for hit in bounded.hits], notes) == (["g3"], [])
        _, notes = await found(world, "Grand Hotel is in Old Town", {**seeds, "link_facts": 2, "hubs": 12})
        assert any('"old town": in so many passages that the name leads to none (`hubs`)' in note for note in notes)


async def test_a_corpus_of_one_fact_is_no_error(tmp_path: Path) -> None:
    async with open_world(tmp_path, fine=Fine.ON) as world:
        await world.put([Passage(key="q", title="Quark", text="is food", triples=(("Quark", "is eaten by", "Xylo"),))])
        result, _ = await found(world, "Who eats Quark?")
        assert [hit.document.key for hit in result.hits] == ["q"]
        assert set(result.linked) == {"Quark", "Xylo"}


async def test_facts_whose_documents_are_gone_are_dense_and_that_is_said(tmp_path: Path) -> None:
    async with open_world(tmp_path, fine=Fine.ON) as world:
        await world.put([Passage(key="q", title="Quark", text="is food", triples=(("Quark", "is eaten by", "Xylo"),))])
        await world.put(PASSAGES)
        await world.remove(["q"])
        result, notes = await found(world)
        assert len(result.hits) == 6
        assert notes == ["hippo: no fact of these documents is near; ranked by cosine (dense) instead"]


async def test_without_the_fine_store_it_refuses_with_the_remedy(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        await world.put(PASSAGES)
        with pytest.raises(InvalidInput, match=r"no vectors of facts .* fine=on or auto"):
            await found(world)


def test_without_a_model_only_the_filter_is_refused(world: World) -> None:
    with pytest.raises(InvalidStrategy, match="HOPWEAVE_LLM__MODEL"):
        world.searcher("hippo")
    world.searcher("hippo", filter=False)
