"""What bridged ranking says of its hits, over the real stores."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import ids
from core.ports.retrieval import Hit
from core.trace import Trace
from testing.indexed_corpus import Passage
from tests.searching import World, open_world


def said(key: str, title: str, text: str, *names: str) -> Passage:
    return Passage(key=key, title=title, text=text, names=names)


PASSAGES = (
    said("source", "Charles Babbage", "Charles Babbage designed the Analytical Engine with Ada Lovelace."),
    said("title", "Analytical Engine", "It was a calculator. The first paper on it was published in the year 1842."),
    said("shared", "Turin lectures", "Luigi Menabrea heard of Somerville Mill in Turin, where a paper was published."),
    said("seen", "Hall", "Charles Babbage was often seen near Somerville Mill."),
    said("back", "Failed calculators", "A workshop that knew Difference Drum failed."),
    said("drum", "Difference Drum", "The machine of Charles Babbage that was published on paper."),
    said("zebra", "Zebra", "The zebra lives in herds and eats grass."),
)
QUESTION = "In which year was the paper on the machine of Charles Babbage published?"
ELSEWHERE = (
    said("ru", "Университет", "Университет основал Иван Шувалов в городе Москва.", "Москва", "Иван Шувалов"),
    said("ru2", "Москва", "столица страны"),
    said("zh", "胡适", "胡适是北京大学的校长。", "北京大学", "胡适"),
    said("zh2", "蔡元培", "他在北京大学。", "北京大学"),
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(PASSAGES)
        yield world


async def hits(world: World, text: str = QUESTION, trace: Trace | None = None, **fields: Any) -> dict[str, Hit]:
    query = world.query(text, **{"k": 20, "explain": True, **fields})
    found = await world.searcher("bridged").search(query, trace or Trace())
    return {hit.document.key: hit for hit in found.hits}


async def test_each_hit_says_why_it_is_there(world: World) -> None:
    found = await hits(world)
    reasons = {key: hit.reasons for key, hit in found.items()}
    assert reasons["source"][0] == "its title is “Charles Babbage”, which the question names"
    leads, brings = "linked from *Charles Babbage*, which names its title", "brings “year”, “paper”, “published”"
    assert reasons["title"] == (leads, brings)
    assert reasons["shared"] == ("linked from *Hall*: both name “Somerville Mill”", "brings “paper”, “published”")
    assert reasons["back"] == ("names *Difference Drum*, the title of a source",)
    names, has = "names “Charles Babbage” of the question", "has “machine”, “paper”, “published” of the question"
    assert reasons["drum"][:2] == (names, has)
    assert reasons["zebra"] == (f"like the question (cosine {found['zebra'].signals.dense:.2f})",)
    for reason in (reason for own in reasons.values() for reason in own):
        assert "names *Charles Babbage*" not in reason, "a name that the question has links nothing"
        assert "both name “Charles" not in reason


async def test_names_are_shown_as_they_are_written(world: World) -> None:
    await world.put(ELSEWHERE)
    russian = await hits(world, "Где университет, который основал Иван Шувалов?")
    assert russian["ru"].reasons[:2] == (
        "names “Иван Шувалов” of the question",
        "has “университет”, “основал” of the question",
    )
    assert russian["ru2"].reasons == ("linked from *Университет*, which names its title",)
    chinese = await hits(world, "胡适在哪里工作?")
    assert chinese["zh"].reasons[0] == "its title is “胡适”, which the question names"
    assert chinese["zh2"].reasons[0] == "linked from *胡适*: both name “北京大学”"


async def test_passages_of_one_title_say_so(world: World) -> None:
    await world.put([replace(PASSAGES[1], key="twin", text="The Analytical Engine had a mill and a store.")])
    twins = await hits(world, "Which calculator had a mill and a store?")
    assert "has the title of *Analytical Engine*" in twins["title"].reasons


async def test_what_only_the_graph_leads_to_says_from_where(world: World) -> None:
    dairy = Passage(key="fact", title="Dairy", text="no names", triples=(("Quark", "is eaten by", "Xylo"),))
    await world.put([dairy, said("xylo", "Xylo", "lives far away")])
    only = frozenset(map(ids.document_id, ["fact", "xylo"]))
    found = await hits(world, "Who eats Quark?", documents=only)
    assert found["xylo"].reasons == ("reached from “Quark” through the graph",)
    trees = [said("larch", "Larch tree", "needles"), said("tam", "Tamarack", "bogs")]
    await world.put(trees, synonyms=[("Larch tree", "Tamarack", 0.9)])
    found = await hits(world, "Where does the Larch tree grow?")
    assert found["tam"].reasons == ("reached from “Larch tree” through the graph",)


async def test_a_source_is_not_told_once_the_record_has_lost_it(tmp_path: Path) -> None:
    async with open_world(tmp_path, interval=3600) as world:
        await world.put(PASSAGES)
        assert any("*Charles Babbage*" in reason for reason in (await hits(world))["title"].reasons)
        await world.remove(["source"])
        found = await hits(world)
        assert "source" not in found
        assert not any("*Charles Babbage*" in reason for hit in found.values() for reason in hit.reasons)
        assert found["title"].reasons


async def test_documents_that_were_not_asked_for_link_nothing(world: World) -> None:
    only = frozenset(map(ids.document_id, ["title", "shared", "drum"]))
    reasons = {key: hit.reasons for key, hit in (await hits(world, documents=only)).items()}
    assert set(reasons) == {"title", "shared", "drum"}
    assert not any("link" in reason for own in reasons.values() for reason in own)


async def test_without_a_link_the_reasons_still_hold(world: World) -> None:
    trace = Trace()
    only = frozenset({ids.document_id("zebra")})
    found = await hits(world, "Who eats grass?", trace, documents=only)
    assert any("ranked by meaning and words alone" in note for note in trace.notes)
    assert found["zebra"].reasons == ("has “eats”, “grass” of the question",)


async def test_nothing_is_said_unless_asked(world: World) -> None:
    trace = Trace()
    assert not any(hit.reasons or hit.contributions for hit in (await hits(world, trace=trace, explain=False)).values())
    assert "explain" not in trace.timing
    assert not any(hit.contributions for hit in (await hits(world)).values())
    assert await hits(world, documents=frozenset(), contributions=True) == {}


async def test_long_titles_are_cut(world: World) -> None:
    title = "Paper on the machine of Babbage " * 5
    long = said("long", title, "The paper on the machine was written by the Quiet River.")
    await world.put([long, said("river", "Quiet River", "It flows in the year.")])
    reasons = (await hits(world))["river"].reasons
    assert reasons[0].startswith("linked from *Paper on the machine of Babbage Paper")
    assert reasons[0].endswith("…*, which names its title")
    assert len(reasons[0]) == len("linked from **, which names its title") + 80
