"""Documents that are versions of one another: the version that the question names is first, or the newest."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
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


FERRIES = [Passage(key=f"other {n}.txt", title="", text=f"Ferry {n} left at noon.") for n in range(20)]


@asynccontextmanager
async def world_of(folder: Path, texts: Mapping[str, str], others: Sequence[Passage] = FERRIES) -> AsyncIterator[World]:
    """A corpus of these texts, by their keys, beside others."""
    async with open_world(folder) as world:
        await world.put([*(Passage(key=key, title="", text=text) for key, text in texts.items()), *others])
        yield world


async def search(world: World, question: str) -> tuple[list[Hit], Trace]:
    trace = Trace()
    query = world.query(question, k=20, explain=True, contributions=True)
    return list((await world.searcher("bridged").search(query, trace)).hits), trace


async def test_the_version_that_is_asked_for_is_first(world: World) -> None:
    for asked, quarter in {
        "in Q3 2022?": "2022 Q3",
        "in the first quarter of 2023?": "2023 Q1",
        "in its latest report?": "2023 Q2",
        "im neuesten Bericht?": "2023 Q2",
    }.items():
        hits, trace = await search(world, f"{QUESTION} {asked}")
        assert hits[0].document.key == f"{quarter} OKE.pdf"
        assert hits[0].contributions["version"] == 0
        others = [hit for hit in hits if hit.document.key.endswith("OKE.pdf")][1:]
        assert len(others) == len(QUARTERS) - 1
        for hit in hits:
            assert sum(hit.contributions.values()) == pytest.approx(hit.score)
        assert all(hit.contributions["version"] < 0 for hit in others)
        assert "versions: passages of what the question names, or of the newest version, rank higher" in trace.notes


async def test_passages_of_a_series_that_the_question_does_not_name_lose(world: World) -> None:
    hits, _ = await search(world, f"{QUESTION}?")
    assert [hit.document.key[8:] for hit in hits[:4]] == ["OKE.pdf"] * 4
    of_solberg = [hit for hit in hits if hit.document.key.endswith("SOL.pdf")]
    assert of_solberg
    assert all(hit.contributions["version"] < 0 for hit in of_solberg)
    for question in ("What was the cash flow of Okeke and Solberg in Q3 2022?", "What was the cash flow in Q3 2022?"):
        hits, _ = await search(world, question)
        assert {hit.contributions["version"] for hit in hits if hit.document.key.startswith("2022 Q3")} == {0}


async def test_a_passage_of_another_series_that_has_the_name_does_not_lose(world: World) -> None:
    await world.put(
        [
            Passage(
                key="2022 Q3 SOL.pdf",
                title="Solberg Mills",
                text="The cash flow was lower, since Okeke Ferries has paid late.",
            )
        ]
    )
    hits, _ = await search(world, f"{QUESTION} in Q3 2022?")
    (found,) = (hit for hit in hits if hit.document.key == "2022 Q3 SOL.pdf")
    assert found.contributions["version"] == 0


async def test_of_two_versions_that_are_compared_neither_loses(world: World) -> None:
    hits, _ = await search(world, f"{QUESTION} in Q3 2022 and Q2 2023?")
    lost = {hit.document.key[:7]: hit.contributions["version"] for hit in hits if "OKE" in hit.document.key}
    assert lost["2022 Q3"] == lost["2023 Q2"] == 0 > lost["2023 Q1"]


async def test_of_passages_that_say_the_same_the_newest_is_first(world: World) -> None:
    for asked in ("?", " since 2022?", " in 2019?"):
        hits, _ = await search(world, f"{QUESTION}{asked}")
        assert [hit.document.key[:7] for hit in hits if "OKE" in hit.document.key] == list(reversed(QUARTERS))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert sum(hit.contributions.values()) == pytest.approx(hit.score)


async def test_a_hit_names_the_other_versions_of_its_document(world: World) -> None:
    hits, _ = await search(world, f"{QUESTION} in Q4 2022?")
    assert [version.key for version in hits[0].versions] == ["2023 Q2 OKE.pdf", "2023 Q1 OKE.pdf", "2022 Q3 OKE.pdf"]
    assert all(not hit.versions for hit in hits if hit.document.key.startswith("other"))


async def test_a_newer_version_without_what_is_asked_for_stays_behind(tmp_path: Path) -> None:
    """Its passage is the same but for the sentence that the question is about."""
    same = "Install the program with the package manager, then start it, and look at its log in the folder of the user."
    texts = {
        "guide-1.0.txt": f"{same} The switch frobnicate turns off the gyroscope.",
        "guide-2.0.txt": f"{same} Thanks to all who have sent a report.",
    }
    async with world_of(tmp_path, texts) as world:
        hits, _ = await search(world, "Which switch turns off the gyroscope? frobnicate")
        assert [hit.document.key for hit in hits[:1]] == ["guide-1.0.txt"]
        hits, _ = await search(world, "How do I install the program with the package manager?")
        assert [hit.document.key for hit in hits[:2]] == ["guide-2.0.txt", "guide-1.0.txt"]


async def test_documents_of_a_series_are_no_versions(tmp_path: Path) -> None:
    """Minutes of two years have names as versions have, and passages that say different things."""
    texts = {
        "minutes 2021.txt": "The board let the roof of the eastern hall be mended.",
        "minutes 2023.txt": "The board chose a gardener. The roof was not spoken of.",
    }
    async with world_of(tmp_path, texts, []) as world:
        hits, _ = await search(world, "What did the board decide about the roof of the eastern hall?")
        assert [hit.document.key for hit in hits] == ["minutes 2021.txt", "minutes 2023.txt"]


async def test_a_folder_that_is_a_version_goes_first_with_all_its_documents(tmp_path: Path) -> None:
    """The document of the other version that fits best has no counterpart in the version that is asked for."""
    texts = {
        "kiln/v2/firing.md": "The book says at what heat glaze is fired, where the wood is kept, and who has the keys.",
        "kiln/v3/glazes.md": "At what heat glaze is fired: at eleven hundred.",
    }
    async with world_of(tmp_path, texts) as world:
        for asked, folder in (("", "v3"), (" in version 2", "v2"), (" in kiln 2", "v2"), (" under v3", "v3")):
            hits, _ = await search(world, f"At what heat is glaze fired{asked}?")
            assert hits[0].document.key.startswith(f"kiln/{folder}/")
            assert not hits[0].versions


async def test_what_was_before_a_version_is_not_looked_for_in_the_newest(tmp_path: Path) -> None:
    same = "The lever opens the sluice, and the wheel closes it; the keeper of the lock writes down who went through."
    texts = {"lock-1.0.txt": f"{same} The lever is of wood.", "lock-2.0.txt": f"{same} It is of steel."}
    async with world_of(tmp_path, texts) as world:
        hits, _ = await search(world, "What opens the sluice, the lever of wood, before upgrading to 2.0?")
        assert hits[0].document.key == "lock-1.0.txt"
        assert all("version" not in hit.contributions for hit in hits)


async def test_a_fault_code_with_another_remedy_is_of_the_newest_revision(tmp_path: Path) -> None:
    """The passages share few words, and the words of the question stand together in the older one alone."""
    texts = {
        "manual-rev-a.txt": "Fault code E07: low flow. Open the bypass, clean the strainer.",
        "manual-rev-b.txt": "E07, a code of the pump's fault: low flow. Vent the boiler, then raise its stage to 3.",
    }
    async with world_of(tmp_path, texts) as world:
        hits, _ = await search(world, "fault code E07")
        assert [hit.document.key for hit in hits[:2]] == ["manual-rev-b.txt", "manual-rev-a.txt"]
        hits, _ = await search(world, "fault code E07 in revision A")
        assert hits[0].document.key == "manual-rev-a.txt"


async def test_an_amendment_is_first_where_it_answers_and_the_contract_where_only_it_does(tmp_path: Path) -> None:
    amendment = "Section 3 is replaced: the monthly rent is 5,250 euros. All other terms remain in force."
    texts = {
        "Lease.txt": "The monthly rent is 4,800 euros, in advance. The deposit is three rents. The roof is mended.",
        "First Amendment to the Lease.txt": amendment,
    }
    async with world_of(tmp_path, texts) as world:
        hits, _ = await search(world, "How high is the monthly rent?")
        assert [hit.document.key for hit in hits[:2]] == ["First Amendment to the Lease.txt", "Lease.txt"]
        assert [version.key for version in hits[0].versions] == ["Lease.txt"]
        hits, _ = await search(world, "How high is the deposit beside the rent?")
        assert hits[0].document.key == "Lease.txt"
