"""Surveys over the embedded stores: counts, lists and what they cover, also while documents come and go."""

import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Corpus
from core.documents import Chunk
from core.events import SearchEvent
from core.ids import document_id
from core.ports.reasoning import Answer, Question, Support, Unsupported
from core.ports.retrieval import QueryPart
from core.ports.surveying import Candidates
from core.trace import Budget, Trace
from reasoning.strategies.survey import reasoner
from reasoning.strategies.survey.reasoner import Config, Survey
from retrieval.surveying import SnapshotDocumentFinder
from testing.indexed_corpus import Passage
from tests.searching import World, open_world

QUESTION = "Which contracts are governed by Delaware law?"
DELAWARE = "This contract is governed by the law of Delaware."


def contract(name: str, text: str) -> Passage:
    return Passage(key=f"contracts/{name}.txt", title=f"{name} contract", text=text)


CONTRACTS = [
    contract("Halden", DELAWARE),
    contract("Quist", "It is governed by the laws of the State of Delaware."),
    contract("Torre", "It is governed by Texas law. A firm of Delaware signs it."),
    contract("Lumen", "This contract is not governed by Delaware law."),
    contract("Berg", "It is governed by the law of Texas."),
    Passage(key="mail", title="Lunch", text="Is it true that all of it is governed by Delaware law? It is Monday."),
    Passage(key="news", title="News", text="A trust is governed by Delaware law."),
]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        await opened.put(CONTRACTS)
        yield opened


async def survey(
    world: World, text: str = QUESTION, *, finder: SnapshotDocumentFinder | None = None, **fields: Any
) -> Answer:
    return (await survey_traced(world, text, finder=finder, **fields))[0]


async def survey_traced(
    world: World,
    text: str = QUESTION,
    *,
    finder: SnapshotDocumentFinder | None = None,
    config: Config | None = None,
    budget: Budget | None = None,
    **fields: Any,
) -> tuple[Answer, Trace]:
    trace = Trace(budget=budget or Budget())
    asked = Survey(config or Config(), finder or SnapshotDocumentFinder(world.backends))
    return await asked.answer(Question(corpus=world.corpus, text=text, **fields), trace), trace


def listed(answer: Answer) -> set[str]:
    """The keys of the documents that count, by the numbered rows."""
    counted = re.split(r"\n\n(?:Not counted|Undecided)", answer.text)[0]
    return {citation.document.key for citation in answer.citations if citation.answer_span.end <= len(counted)}


def coverage(answer: Answer) -> str:
    return answer.text.rpartition("\n\n")[2]


async def test_documents_are_counted_and_listed_with_a_passage_each(world: World) -> None:
    answer = await survey(world)
    assert answer.text.startswith("2 documents of the kind “contracts” say this:\n\n1. ")
    assert listed(answer) == {"contracts/Halden.txt", "contracts/Quist.txt"}
    assert "opposite (1):\n\n- Lumen contract: “This contract is not governed by Delaware law.” [3]" in answer.text
    assert "in this sense (1):\n\n- Torre contract" in answer.text
    assert coverage(answer) == "Read 4 of 4 documents that could match; 1 undecided."
    assert (answer.support, answer.abstained) == (Support.QUOTED, False)
    for citation in answer.citations:
        assert citation.quote in answer.text
        assert f"[{citation.marker}]" in answer.text


async def test_documents_of_any_kind_count_if_the_question_says_so(world: World) -> None:
    answer = await survey(world, "Which documents are governed by Delaware law?")
    assert listed(answer) == {"contracts/Halden.txt", "contracts/Quist.txt", "news"}
    assert coverage(answer) == "Read 6 of 6 documents that could match; 2 undecided."


async def test_documents_of_a_kind_are_counted_without_a_condition(world: World) -> None:
    assert (await survey(world, "How many contracts are there?")).text.startswith("5 documents of the kind")
    assert (await survey(world, "How many documents are there?")).text.startswith("7 documents:")


async def test_a_kind_that_no_document_has_is_told(world: World) -> None:
    answer = await survey(world, "Which invoices are governed by Delaware law?")
    assert "No title, heading, key or metadata says “invoices”" in answer.note
    assert len(listed(answer)) == 3


async def test_what_documents_lack_is_inferred_and_not_given_where_only_stated_answers_are_wanted(world: World) -> None:
    question = "Which contracts do not mention Delaware?"
    answer = await survey(world, question)
    assert (listed(answer), answer.support) == ({"contracts/Berg.txt"}, Support.INFERRED)
    assert coverage(answer) == "1 document lacks a word of it; read 4 of 4 documents that have all; 0 undecided."
    assert (await survey(world, question, unsupported=Unsupported.ABSTAIN)).abstained


async def test_an_undecided_survey_is_not_given_where_only_sure_answers_are_wanted(world: World) -> None:
    await world.put([contract(f"More{n}", "It is governed. A law. In Delaware.") for n in range(3)])
    assert not (await survey(world)).abstained
    withheld = await survey(world, unsupported=Unsupported.ABSTAIN)
    assert (withheld.abstained, withheld.support) == (True, Support.NONE)


async def test_nothing_found_is_an_abstention_that_says_how_many_were_read(world: World) -> None:
    answer = await survey(world, "Which contracts are governed by Peruvian law?")
    assert (answer.text.splitlines()[0], answer.abstained) == ("0 documents of the kind “contracts” say this.", True)
    assert coverage(answer) == "Read 0 of 0 documents that could match; 0 undecided."


async def test_copies_and_versions_are_counted_once(world: World) -> None:
    await world.put(
        [
            contract("HaldenCopy", DELAWARE),
            Passage(key="plan-v1.txt", title="plan v1", text="The plan is governed by Delaware law."),
            Passage(key="plan-v2.txt", title="plan v2", text="This plan is now governed by Delaware law."),
            Passage(key="report-2023-Q1.txt", title="report 2023 Q1", text="First: governed by Delaware law."),
            Passage(key="report-2023-Q2.txt", title="report 2023 Q2", text="Then: governed by Delaware law."),
        ]
    )
    contracts = await survey(world)
    assert contracts.text.startswith("2 documents")
    assert "contract (and 1 copy): “" in contracts.text
    assert coverage(contracts).endswith("1 undecided; 1 copy is counted with their document.")
    everything = await survey(world, "Which documents are governed by Delaware law?")
    keys = listed(everything)
    assert {"plan-v2.txt", "report-2023-Q1.txt", "report-2023-Q2.txt"} <= keys
    assert "plan-v1.txt" not in keys
    assert everything.text.startswith(f"{len(keys)} documents")


async def test_hidden_documents_are_in_no_number(world: World, tmp_path: Path) -> None:
    """The answer is the answer over a corpus that never had them."""
    hidden = {"contracts/Quist.txt", "contracts/Torre.txt", "contracts/Lumen.txt", "news"}
    seen = [passage for passage in CONTRACTS if passage.key not in hidden]
    kept = frozenset(document_id(passage.key) for passage in seen)
    questions = [QUESTION, "How many contracts are there?", "Which contracts do not mention Texas?"]
    async with open_world(tmp_path / "other") as other:
        await other.put(seen)
        for question in questions:
            masked, whole = await survey(world, question, documents=kept), await survey(other, question)
            assert (masked.text, masked.note) == (whole.text, whole.note)


class _Changing(SnapshotDocumentFinder):
    """Changes the corpus after the candidates are found, before the first of them is read."""

    def __init__(self, world: World, *, remove: Sequence[str] = (), put: Sequence[Passage] = ()) -> None:
        super().__init__(world.backends)
        self._world = world
        self._remove, self._put = remove, put

    async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        if self._remove:
            await self._world.remove(self._remove)
        if self._put:
            await self._world.put(self._put)
        self._remove, self._put = (), ()
        return await super().get_chunks(corpus, chunk_ids)


async def test_a_document_that_is_deleted_during_the_survey_is_in_no_number(world: World) -> None:
    answer = await survey(world, finder=_Changing(world, remove=["contracts/Quist.txt", "contracts/Torre.txt"]))
    assert listed(answer) == {"contracts/Halden.txt"}
    assert "Quist" not in answer.text
    assert coverage(answer) == "Read 2 of 2 documents that could match; 0 undecided."


async def test_a_document_that_is_replaced_during_the_survey_is_undecided(world: World) -> None:
    changed = contract("Quist", "It says something else.")
    answer = await survey(world, finder=_Changing(world, put=[changed]))
    assert listed(answer) == {"contracts/Halden.txt"}
    assert "- Quist contract" in answer.text
    assert coverage(answer) == "Read 4 of 4 documents that could match; 2 undecided."


async def test_a_survey_that_stops_early_says_so(world: World) -> None:
    answer = await survey(world, config=Config(documents=2), text="Which documents are governed by Delaware law?")
    assert coverage(answer).startswith("Read 2 of 6 documents that could match")
    assert coverage(answer).endswith("the survey stopped early: it reads 2 documents at most.")
    late, _ = await survey_traced(world, budget=Budget(seconds=0))
    assert coverage(late).startswith("Read 0 of ")
    assert coverage(late).endswith("the survey stopped early: its time was over.")
    assert late.abstained


async def test_rows_beyond_the_limit_are_counted_and_not_shown(world: World) -> None:
    answer, trace = await survey_traced(world, "Which documents are governed by Delaware law?", config=Config(rows=1))
    assert answer.text.startswith("3 documents say this:")
    assert "… and 2 more." in answer.text
    assert len(listed(answer)) == 1
    shown = [hit for event in trace.events if isinstance(event, SearchEvent) for hit in event.hits]
    assert len(shown) == len(answer.citations)


async def test_several_corpora_are_one_survey(world: World) -> None:
    parts = (QueryPart(corpus=world.corpus), QueryPart(corpus=world.corpus, documents=frozenset()))
    answer = await survey(world, parts=parts)
    assert coverage(answer) == "Read 4 of 4 documents that could match; 1 undecided."


class _Long(SnapshotDocumentFinder):
    """Tells that each document has two passages, so that one passage does not show what the document is."""

    read = 0

    async def find(self, *given: Any) -> Candidates:
        found = await super().find(*given)
        return replace(found, documents=tuple(replace(one, passages=2) for one in found.documents))

    async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
        self.read += 1
        return await super().list_chunks(corpus, document_id)


async def test_documents_of_several_passages_are_read_whole_where_they_may_be_copies(world: World) -> None:
    await world.put([contract("Copy", DELAWARE)])
    finder = _Long(world.backends)
    assert (await survey(world, finder=finder)).text.startswith("2 documents")
    assert finder.read == 2, "Quist's contract is like no other"


async def test_of_many_long_documents_some_are_compared(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoner, "_MOST_COMPARED", 3)
    await world.put([contract(f"Copy{n}", DELAWARE) for n in range(5)])
    finder = _Long(world.backends)
    answer, trace = await survey_traced(world, finder=finder)
    assert finder.read == 3
    assert answer.text.startswith("5 documents")
    assert any("3 documents of several passages were compared" in note for note in trace.notes)


@pytest.mark.parametrize("text", ["Which?", "How many?", "List all"])
async def test_a_question_that_names_nothing_is_declined(world: World, text: str) -> None:
    answer = await survey(world, text)
    assert (answer.abstained, answer.citations) == (True, ())


async def test_words_in_several_passages_of_a_document_are_undecided(world: World) -> None:
    """The finder tells that no passage has all words."""

    class Apart(SnapshotDocumentFinder):
        async def find(self, *given: Any) -> Candidates:
            found = await super().find(*given)
            return replace(found, documents=tuple(replace(one, is_together=False) for one in found.documents))

    answer = await survey(world, finder=Apart(world.backends))
    assert coverage(answer) == "Read 4 of 4 documents that could match; 4 undecided."
    assert answer.abstained
