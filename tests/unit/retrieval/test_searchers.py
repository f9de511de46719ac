"""Every searcher that is there keeps the contract, over the real embedded stores."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core import strategies
from core.corpora import Fine
from core.errors import InvalidStrategy
from core.ids import document_id
from core.trace import Trace
from retrieval import SEARCHERS
from testing.contracts.searcher import NAMING, PASSAGES, QUESTION, OpenCorpus
from testing.indexed_corpus import Passage
from tests.searching import NamedSearcherContract, World, open_world

NEEDING_MORE = {"hippo", "hippo1"}
"""Have classes of their own, as they need more than documents and an embedding model."""
TESTED_WITH_THEIR_SERVERS = {"listwise", "reranked", "web"}  # tests/integration/retrieval


class TestEachSearcher(NamedSearcherContract):
    """All with their default options."""

    @pytest.fixture(
        params=sorted(set(strategies.list_names(SEARCHERS)) - NEEDING_MORE - TESTED_WITH_THEIR_SERVERS), autouse=True
    )
    def _each(self, request: pytest.FixtureRequest) -> None:
        self.name = request.param


class TestBridgedBySix(NamedSearcherContract):
    name = "bridged"
    options = {"ranker": "six"}  # noqa: RUF012 - never written to


class TestOnMappedSnapshots(NamedSearcherContract):
    name = "bridged"

    @pytest.fixture
    def parts(self) -> dict[str, Any]:
        return {"mapped": True}


class TestFineByVector(NamedSearcherContract):
    name = "fine"

    @pytest.fixture
    def parts(self) -> dict[str, Any]:
        return {"fine": Fine.ON}


class TestHippo(NamedSearcherContract):
    """Of passages that assert something: what their title has to do with the names in their text."""

    name = "hippo"
    options = {"filter": False}  # noqa: RUF012 - never written to

    @pytest.fixture
    def parts(self) -> dict[str, Any]:
        return {"fine": Fine.ON, "asserting": True}


class TestHippoOne(TestHippo):
    name = "hippo1"
    options = {"ner": False}  # noqa: RUF012 - never written to

    async def test_what_vanished_after_the_snapshot_leaves_its_place_to_others(self, opens: OpenCorpus) -> None:
        """Of a question with two names: one that no passage has any more leads to the nearest name, and to no other."""
        async with opens(3600) as world:
            await world.put(PASSAGES)
            before = await self.keys(world, NAMING, k=3)
            await world.remove(before[:1], keep_views=True)
            after = await self.keys(world, NAMING, k=2)
            assert len(after) == 2
            assert before[0] not in after


def test_every_searcher_has_its_contract_test() -> None:
    tested = {
        cls.name for cls in (*NamedSearcherContract.__subclasses__(), TestHippoOne) if cls is not TestEachSearcher
    }
    assert tested >= NEEDING_MORE


def test_a_wrong_option_is_named() -> None:
    with pytest.raises(InvalidStrategy, match="dampng"):
        strategies.parse_config(SEARCHERS, strategies.parse_spec("fused:dampng=0.5"), "searcher")


@pytest.fixture
async def world(tmp_path: Path):
    async with open_world(tmp_path) as world:
        await world.put(PASSAGES)
        yield world


async def signals(world: World, name: str, text: str = QUESTION, **fields: Any) -> dict[str, Any]:
    result = await world.searcher(name).search(world.query(text, k=6, **fields), Trace())
    return {hit.document.key: hit.signals for hit in result.hits}


async def test_each_searcher_tells_the_signals_that_it_looked_at(world: World) -> None:
    fused = (await signals(world, "fused"))["a"]
    for name, there in (("dense", {"dense"}), ("sparse", {"sparse"}), ("graph", {"graph"})):
        own = (await signals(world, name))["a"]
        assert {field for field in ("dense", "sparse", "graph") if getattr(own, field) is not None} == there
        assert getattr(own, name) == pytest.approx(getattr(fused, name), rel=1e-5)

    least = await signals(world, "sparse", min_similarity=0.0)
    assert all(one.dense is not None for one in least.values()), "a least cosine is asked for"


async def test_the_graph_brings_what_no_word_of_the_question_leads_to(world: World) -> None:
    found = await signals(world, "graph", "Who sang Hello Love?")
    assert {"a", "b"} <= set(found)
    assert "d" not in found


async def test_graph_without_a_name_is_dense_and_says_so(world: World) -> None:
    trace = Trace()
    unnamed = world.query("what is made of flour?", k=3)
    result = await world.searcher("graph").search(unnamed, trace)
    dense = await world.searcher("dense").search(unnamed, Trace())
    assert [hit.chunk.id for hit in result.hits] == [hit.chunk.id for hit in dense.hits]
    assert any("dense" in note for note in trace.notes)
    assert result.linked == {}


async def test_linked_entities_are_told_by_display_name_with_weights_that_sum_to_one(world: World) -> None:
    result = await world.searcher("fused").search(world.query("Did Hank Snow sing hello love in Nashville?"), Trace())
    assert set(result.linked) == {"Hank Snow", "Nashville"}
    assert sum(result.linked.values()) == pytest.approx(1)
    query = world.query("Who is Publix?", documents=frozenset(), k=6)
    assert (await world.searcher("graph").search(query, Trace())).linked == {}, "a filter leaves its documents' edges"


@pytest.mark.parametrize("name", ["dense", "sparse"])
async def test_disabled_documents_leave_room_in_a_corpus_of_many(world: World, name: str) -> None:
    """The search requests more before it names the documents of the snapshot."""
    disabled = [replace(PASSAGES[0], key=f"disabled {i}") for i in range(120)]
    await world.put([*disabled, *(replace(PASSAGES[1], key=f"other {i}") for i in range(90))])
    chosen = [document_id(passage.key) for passage in (PASSAGES[0], *disabled)]
    await world.record.submissions.set_enabled(world.corpus.id, chosen, enabled=False)
    query = world.query(f"{PASSAGES[0].text} Madison", k=2)
    keys = [hit.document.key for hit in (await world.searcher(name).search(query, Trace())).hits]
    assert len(keys) == 2
    assert not any(key.startswith("disabled") for key in keys)


async def test_a_search_that_only_disabled_documents_match_best_has_the_next_best_hits(world: World) -> None:
    """They are so many that requesting more alone would not end soon."""
    disabled = [replace(PASSAGES[0], key=f"disabled {i}") for i in range(450)]
    await world.put(disabled)
    chosen = [document_id(passage.key) for passage in (PASSAGES[0], *disabled)]
    await world.record.submissions.set_enabled(world.corpus.id, chosen, enabled=False)
    for name in ("dense", "sparse"):
        query = world.query(f"{PASSAGES[0].text} Tennessee", k=1)
        (hit,) = (await world.searcher(name).search(query, Trace())).hits
        assert not hit.document.key.startswith("disabled")


async def test_stages_are_timed(world: World) -> None:
    trace = Trace()
    await world.searcher("fused").search(world.query(QUESTION, explain=True), trace)
    assert {"embed", "dense", "sparse", "graph", "read", "explain"} <= set(trace.timing)


async def test_a_path_leads_from_an_entity_of_the_question_to_the_passage(world: World) -> None:
    died = Passage(key="fact", title="Obituaries", text="he died there", triples=(("Hank Snow", "died in", "Madison"),))
    await world.put([died])
    query = world.query("Who sang Hello Love?", k=7, explain=True)
    hits = (await world.searcher("graph").search(query, Trace())).hits
    paths = {hit.document.key: hit.path for hit in hits}
    told = [(step.source, step.relation, step.target) for step in paths["a"]]
    assert told == [("Hello Love", "mentions", "Hello Love")]
    for key, path in paths.items():
        assert path[0].source == "Hello Love"
        assert path[-1].target == {p.key: p.title for p in PASSAGES}.get(key, "Obituaries")
        for step, following in pairwise(path):
            assert step.target == following.source


async def test_facts_and_synonyms_on_the_path_are_told_with_their_passage(world: World) -> None:
    triple = ("Quark", "is eaten by", "Xylo")
    dairy = Passage(key="q", title="Dairy", text="no names here", triples=(triple,))
    larch = Passage(key="l", title="Larch tree", text="needles"), Passage(key="t", title="Tamarack", text="bogs")
    far = Passage(key="x", title="Xylo", text="lives far away")
    await world.put([dairy, far, *larch], synonyms=[("Larch tree", "Tamarack", 0.9)])
    query = world.query("Who eats Quark?", k=5, explain=True)
    hits = {hit.document.key: hit for hit in (await world.searcher("graph").search(query, Trace())).hits}
    step = hits["x"].path[0]
    assert (step.source, step.relation, step.target, step.chunk_id) == (*triple, hits["q"].chunk.id)
    query = world.query("Where does the Larch tree grow?", k=5, explain=True)
    hits = {hit.document.key: hit for hit in (await world.searcher("graph").search(query, Trace())).hits}
    step = hits["t"].path[0]
    assert (step.source, step.relation, step.target, step.chunk_id) == ("Larch tree", "synonym", "Tamarack", "")


async def test_a_word_that_a_question_repeats_weighs_more_and_a_small_word_does_not(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        keys = ("pumps", "valves")
        await world.put([Passage(key=key, title="Halden", text=f"The {key} of the mill.") for key in keys])
        for repeated in keys:
            query = world.query(f"On valves and pumps: why do {repeated} fail?")
            found = await world.searcher("sparse").search(query, Trace())
            assert found.hits[0].document.key == repeated
            assert found.hits[0].score > found.hits[1].score
        once, often = [
            (await world.searcher("sparse").search(world.query(text), Trace())).hits[0].score
            for text in ("the mill", "the mill, the, the")
        ]
        assert once == often
