"""Documents that are versions of one another: the version that the question names is first, or the newest."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.ports.retrieval import Hit
from core.trace import Trace
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

QUARTERS = ("2022 Q3", "2022 Q4", "2023 Q1", "2023 Q2")
COMPANIES = {"OKE": "Okeke Ferries", "SOL": "Solberg Mills"}
QUESTION = "What was the cash flow of Okeke Ferries"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as world:
        await world.put(
            [
                Passage(
                    key=f"{quarter} {sign}.pdf",
                    title=company,
                    text=f"The cash flow of {company} from operations was {10 * n + len(sign)} million euros.",
                )
                for n, quarter in enumerate(QUARTERS)
                for sign, company in COMPANIES.items()
            ]
            + [Passage(key=f"other {n}.txt", title="", text=f"Ferry {n} left at noon.") for n in range(9)]
        )
        yield world


async def search(world: World, question: str) -> tuple[list[Hit], Trace]:
    trace = Trace()
    query = world.query(question, k=20, explain=True, contributions=True)
    return list((await world.searcher("bridged").search(query, trace)).hits), trace


@pytest.mark.parametrize(
    ("asked", "quarter"),
    [
        ("in Q3 2022?", "2022 Q3"),
        ("in the first quarter of 2023?", "2023 Q1"),
        ("in its latest report?", "2023 Q2"),
        ("im neuesten Bericht?", "2023 Q2"),
    ],
)
async def test_the_version_that_is_asked_for_is_first(world: World, asked: str, quarter: str) -> None:
    hits, trace = await search(world, f"{QUESTION} {asked}")
    assert hits[0].document.key == f"{quarter} OKE.pdf"
    assert hits[0].contributions["version"] == 0
    others = [hit for hit in hits if hit.document.key.endswith("OKE.pdf")][1:]
    assert len(others) == len(QUARTERS) - 1
    for hit in hits:
        assert sum(hit.contributions.values()) == pytest.approx(hit.score)
    assert all(hit.contributions["version"] < 0 for hit in others)
    assert "versions: passages of other versions than the question's rank lower" in trace.notes


async def test_of_two_versions_that_are_compared_neither_loses(world: World) -> None:
    hits, _ = await search(world, f"{QUESTION} in Q3 2022 and Q2 2023?")
    lost = {hit.document.key[:7]: hit.contributions["version"] for hit in hits if "OKE" in hit.document.key}
    assert lost["2022 Q3"] == lost["2023 Q2"] == 0 > lost["2023 Q1"]


@pytest.mark.parametrize("asked", ["over time?", "since 2022?", "in 2019?"])
async def test_a_question_that_names_no_version_ranks_all_alike(world: World, asked: str) -> None:
    hits, trace = await search(world, f"{QUESTION} {asked}")
    assert all("version" not in hit.contributions for hit in hits)
    assert not any("versions" in note for note in trace.notes)
