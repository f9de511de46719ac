"""Questions that are made from a corpus, with the real extractor: what they ask, and that `eval` takes them."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from api.schemas.made_questions import convert_made
from api.schemas.values import dump
from app.container import Container
from app.services import corpora
from app.services.made_questions import (
    Kind,
    MadeQuestion,
    MadeQuestions,
    Material,
    make_questions,
    material,
    parse_kinds,
    read_material,
)
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput
from core.text.answers import is_contained
from evaluation.datasets.dataset import read_dataset
from evaluation.datasets.writing import check_folder, to_row, write_questions
from evaluation.experiment import Experiment, run_experiment
from evaluation.indexing import index_dataset
from evaluation.ranker.training import gather_training_set, read_training_datasets
from retrieval.bridged.training import RECIPES
from retrieval.supports import Support
from tests.integration.evaluation.workbench import WorkerHere, workbench

TEXTS = {
    "Ada Lund": "Ada Lund (5 March 1861 – 2 May 1930) was a chemist. Ada Lund was born in Basel.",
    "Orell Press": "Orell Press is a company. Orell Press was founded by Ada Lund.",
    "Rolf Ebert": "Rolf Ebert (12 June 1890 – 4 July 1950) was a painter.",
    "Ines Corvo": "Ines Corvo (3 April 1902 – 9 May 1977) was a painter.",
    "Jonas Weller": "Jonas Weller was a painter. Jonas Weller retired in 1931.",
    "Quartz Lamp": "Quartz Lamp is a 1951 silent film directed by Ines Corvo. It was released in 1951.",
    "Sapphire Road": "Sapphire Road is a silent film directed by Rolf Ebert. Ines Corvo admired Rolf Ebert.",
}
GERMAN = {"Ulm": "Die Stadt Ulm ist eine große Stadt an der Donau und wurde von den Römern nicht gegründet."}


@asynccontextmanager
async def corpus_of(
    folder: Path, texts: Mapping[str, str], extractor: str = "syntax"
) -> AsyncIterator[tuple[Container, Corpus]]:
    (folder / "set").mkdir()
    rows = [{"id": title.replace(" ", "-"), "title": title, "text": text} for title, text in texts.items()]
    (folder / "set" / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    question = {"id": "none", "question": "Why?", "answerable": False}
    (folder / "set" / "questions.jsonl").write_text(json.dumps(question), encoding="utf-8")
    async with workbench(folder / "data") as container:
        corpus, _ = await index_dataset(
            container,
            WorkerHere(),
            read_dataset(folder / "set"),
            chunker="passage",
            extractor=extractor,
            progress=lambda *_: None,
        )
        yield container, corpus


async def read(folder: Path, texts: Mapping[str, str], extractor: str = "syntax") -> Material:
    async with corpus_of(folder, texts, extractor) as (container, corpus):
        return await read_material(container, corpus, 0)


async def make(folder: Path, texts: Mapping[str, str], extractor: str = "syntax") -> MadeQuestions:
    return make_questions(await read(folder, texts, extractor), 100, 0)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return asyncio.run(read(tmp_path_factory.mktemp("people"), TEXTS))


def rows_of(made: MadeQuestions) -> list[dict[str, Any]]:
    return [to_row(question) for question in dump(convert_made(made, 0))["questions"]]


def find(made: MadeQuestions, text: str) -> MadeQuestion:
    (found,) = [question for question in made.questions if question.text == text]
    return found


def test_facts_become_questions_with_their_answers_and_supports(people: Material) -> None:
    made = make_questions(people, 100, 0)
    assert find(made, "Who founded Orell Press?").supports == (Support(key="Orell-Press"),)
    joined = find(made, "When was the chemist who founded Orell Press born?")
    assert (joined.kind, joined.answer, joined.keys) == (Kind.TWO_HOP, "5 March 1861", ("Orell-Press", "Ada-Lund"))
    assert joined.hops == (("Who founded Orell Press?", "Ada Lund"), ("When was Ada Lund born?", "5 March 1861"))
    compared = next(question for question in made.questions if question.kind is Kind.COMPARISON)
    assert any(compared.answer in quote.text for quote in compared.quotes)
    assert find(made, "How many documents mention Ada Lund?").answer == "2"
    assert all(question.quotes[0].text for question in made.questions if question.answer)


DESCRIBED = {
    **TEXTS,
    "Opal Tower": "Opal Tower is a 1962 silent film directed by Ines Corvo. It was released in 1962.",
    "Corvo Club": "Corvo Club is a band. Hanna Prell founded Corvo Club.",
    "Hanna Prell": "Hanna Prell (7 May 1911 – 1 June 1990) was a singer.",
    "Old Harbour": "In the old harbour, Corvo Club was heard by all.",
}


async def test_a_description_takes_the_place_of_a_name_and_questions_with_it_come_first(tmp_path: Path) -> None:
    described = await read(tmp_path, DESCRIBED)
    made = make_questions(described, 100, 0)
    plain = find(made, "When was the singer who founded Corvo Club born?")
    assert (plain.kind, plain.answer, plain.keys) == (Kind.TWO_HOP, "7 May 1911", ("Corvo-Club", "Hanna-Prell"))
    mentioned = find(made, "Who founded the band that the text on Old Harbour mentions?")
    assert (mentioned.kind, mentioned.answer, mentioned.keys) == (
        Kind.TWO_HOP,
        "Hanna Prell",
        ("Old-Harbour", "Corvo-Club"),
    )
    first = next(question for question in make_questions(described, 4, 0).questions if question.kind is Kind.SINGLE)
    assert not is_contained(first.quotes[0].passage.title, first.text), "it names no title"


async def test_a_text_that_mentions_two_of_a_kind_describes_neither(tmp_path: Path) -> None:
    twice = {
        **DESCRIBED,
        "Old Harbour": "In the old harbour, Corvo Club was heard by all, as the best band of all bands.",
    }
    made = await make(tmp_path, twice)
    assert not [question for question in made.questions if "Old Harbour" in question.text]


def test_no_question_has_its_answer_or_is_asked_twice(people: Material) -> None:
    made = make_questions(people, 100, 0)
    plain = [question for question in made.questions if question.kind in (Kind.SINGLE, Kind.TWO_HOP)]
    assert len(plain) > 5
    assert not [question for question in plain if is_contained(question.answer, question.text)]
    assert len({question.text for question in made.questions}) == len(made.questions)


async def test_a_question_with_two_answers_is_not_made(tmp_path: Path) -> None:
    twice = {**TEXTS, "Orell Club": "Orell Press was founded by Ines Corvo."}
    made = await make(tmp_path, twice)
    assert "Who founded Orell Press?" not in {question.text for question in made.questions}


async def test_two_hops_need_both_documents(tmp_path: Path) -> None:
    """One document that has both ends would answer alone."""
    made = await make(tmp_path, {**TEXTS, "Sum": "Orell Press stands in Basel since 5 March 1861, as a sign says."})
    assert not [question for question in made.questions if "founded Orell Press born" in question.text]


async def test_what_no_passage_says_is_unanswerable(people: Material, tmp_path: Path) -> None:
    made = make_questions(people, 100, 0)
    asked = {question.text for question in made.questions if question.kind is Kind.UNANSWERABLE}
    assert "When was Jonas Weller born?" in asked
    assert not asked & {"When was Ada Lund born?", "When did Ada Lund die?"}
    said = await make(tmp_path, {**TEXTS, "Weller": "It is not known where Jonas Weller was born."})
    assert "When was Jonas Weller born?" not in {question.text for question in said.questions}


def test_the_seed_decides_and_nothing_else(people: Material) -> None:
    first, again, other = (make_questions(people, 6, seed) for seed in (0, 0, 5))
    assert first == again
    assert first.questions != other.questions
    assert len(first.questions) == 6


async def test_eval_takes_the_folder_at_once(tmp_path: Path) -> None:
    async with corpus_of(tmp_path, TEXTS) as (container, corpus):
        made = make_questions(await read_material(container, corpus, 0), 30, 0)
        write_questions(tmp_path / "made", rows_of(made))
        experiment = Experiment(searchers=("sparse",), corpus=corpus.name)
        result = await run_experiment(container, WorkerHere(), tmp_path / "made", experiment, lambda *_: None)
    answered = [row for row in result.searches if row.question_id.startswith("single")]
    assert result.questions == len(made.questions)
    assert sum(row.scores["recall@5"] for row in answered) >= 0.9 * len(answered) > 0


async def test_a_ranker_can_be_trained_on_them_in_the_corpus_itself(tmp_path: Path) -> None:
    async with corpus_of(tmp_path, TEXTS) as (container, corpus):
        made = make_questions(await read_material(container, corpus, 0), 100, 0)
        write_questions(tmp_path / "made", rows_of(made))
        (dataset,) = read_training_datasets([tmp_path / "made"], needs_corpus=False)
        gathered = await gather_training_set(
            container,
            WorkerHere(),
            dataset,
            features=RECIPES["six"].features,
            extractor="pattern",
            chunker="passage",
            corpus_name=corpus.name,
            progress=lambda *_: None,
        )
    assert len(gathered.questions) == sum(bool(question.answer) for question in made.questions) >= 20
    assert all(question.supporting.any() for question in gathered.questions)


async def test_cells_of_tables_are_asked_for(tmp_path: Path) -> None:
    table = "| Hotel | Rooms | Built |\n|---|---|---|\n| Harbour House | 40 | 1921 |\n| Mill Inn | 18 | 1955 |\n"
    made = await make(tmp_path, {"Hotels": f"The hotels of the town are these.\n\n{table}"}, "pattern")
    cell = find(made, "In “Hotels”, what is the value of Rooms for Mill Inn?")
    assert (cell.kind, cell.answer, cell.quotes[0].text) == (Kind.CELL, "18", "| Mill Inn | 18 | 1955 |")


@pytest.mark.parametrize(
    ("texts", "extractor", "said"),
    [
        (TEXTS, "pattern", "--extractor syntax"),
        (GERMAN, "pattern", "1 in de"),
        ({"Note": "Nothing happened here at all, and that was that for the day."}, "syntax", "no facts"),
    ],
)
async def test_a_corpus_without_questions_says_why(
    tmp_path: Path, texts: Mapping[str, str], extractor: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        await make(tmp_path, texts, extractor)


async def test_an_empty_corpus_says_so(tmp_path: Path) -> None:
    async with workbench(tmp_path) as container:
        corpus = await corpora.ensure(container, "empty", chunker="passage", extractor="pattern")
        with pytest.raises(InvalidInput, match="no documents"):
            make_questions(await read_material(container, corpus, 0), 10, 0)


async def test_one_document_has_questions_of_one_passage_and_says_what_lacks(tmp_path: Path) -> None:
    made = await make(tmp_path, {"Ada Lund": TEXTS["Ada Lund"]})
    assert {question.kind for question in made.questions} == {Kind.SINGLE}
    assert any("two_hop needs" in note for note in made.notes)


async def test_of_a_large_corpus_documents_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material, "MOST_PASSAGES", 4)
    async with corpus_of(tmp_path, TEXTS) as (container, corpus):
        read, again, other = [await read_material(container, corpus, seed) for seed in (0, 0, 3)]
    assert (len(read.passages), read.documents, read.total) == (4, 4, len(TEXTS))
    assert read == again
    assert {passage.key for passage in read.passages} != {passage.key for passage in other.passages}
    made = make_questions(read, 100, 0)
    assert not {question.kind for question in made.questions} & {Kind.COUNT, Kind.UNANSWERABLE}
    assert any("4 of 7 documents were read" in note for note in made.notes)


def test_a_folder_that_has_questions_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(Conflict, match=r"questions\.jsonl already"):
        write_questions(tmp_path, ())
    assert (tmp_path / "questions.jsonl").read_text(encoding="utf-8") == "mine"
    with pytest.raises(InvalidInput, match="is a file"):
        check_folder(tmp_path / "questions.jsonl")


def test_kinds_are_named() -> None:
    assert parse_kinds("two-hop, single") == (Kind.SINGLE, Kind.TWO_HOP)
    with pytest.raises(InvalidInput, match="no kind of question"):
        parse_kinds("single,riddle")
