"""The questions that a ranker has seen: hashes in its file, and how many of them an evaluation asks again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.commands.evaluation.train_ranker import register
from core.errors import InvalidInput
from evaluation import add_question_hashes, build_report, read_dataset
from evaluation.ranker.seen import count_seen, describe_training_set, list_rankers
from retrieval.bridged.ranker import SHIPPED, format_ranker, load_ranker, read_ranker
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.unit.evaluation.builders import invoke, result_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "musique-small"
WEIGHTS = {"stage1_rank": 1.5, "words": 0.1 + 0.2}


def ranker_of(folder: Path) -> Path:
    """A ranker without hashes, as an earlier release wrote it."""
    described = describe_training_set(read_dataset(folder))
    described.pop("question_hashes")
    file = folder.parent / "mine.json"
    file.write_text(format_ranker(WEIGHTS, [], {"trained_on": [described], "made_by": "a test"}))
    return file


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    write_townsfolk(tmp_path / "towns", people=20)
    return tmp_path / "towns"


def questions_of(folder: Path) -> list[str]:
    return [question.text for question in read_dataset(folder).questions]


def test_the_command_adds_hashes_and_leaves_the_weights(towns: Path) -> None:
    file = ranker_of(towns)
    before = read_ranker(file.read_text())
    assert count_seen([str(file)], questions_of(towns)) == ()
    assert invoke(register, towns, "-o", file, "--add-hashes").exception is None
    after = read_ranker(file.read_text())
    assert (after.features, after.weights.tolist()) == (before.features, before.weights.tolist())
    assert after.provenance["made_by"] == "a test"
    (seen,) = count_seen([str(file)], questions_of(towns))
    assert (seen.ranker, seen.dataset, seen.questions) == (str(file), "towns", 20)
    assert "was trained on 20 of these questions (towns)" in seen.warning
    assert add_question_hashes(file.read_text(), [read_dataset(towns)]) == file.read_text()


def test_another_form_of_a_question_is_the_same_and_another_question_is_not(towns: Path) -> None:
    file = ranker_of(towns)
    file.write_text(add_question_hashes(file.read_text(), [read_dataset(towns)]))
    first, second, *_ = questions_of(towns)
    asked = [f" {first.upper().replace('?', ' ?')} ", second.lower(), "On which river is the town of nobody?", ""]
    assert [seen.questions for seen in count_seen([str(file)], asked)] == [2]
    assert count_seen([str(file)], asked[2:]) == ()


def test_other_questions_than_those_of_the_training_are_refused(towns: Path, tmp_path: Path) -> None:
    file = ranker_of(towns)
    text = file.read_text()
    write_townsfolk(tmp_path / "other", people=20)
    other = invoke(register, tmp_path / "other", "-o", file, "--add-hashes").exception
    assert "was trained on 'towns', too" in str(other)
    write_townsfolk(towns, people=21)
    error = invoke(register, towns, "-o", file, "--add-hashes").exception
    assert isinstance(error, InvalidInput)
    assert "is not the file that the ranker was trained on" in str(error)
    missing = invoke(register, towns, "-o", tmp_path / "none.json", "--add-hashes").exception
    assert "cannot be read" in str(missing)
    assert file.read_text() == text


@pytest.mark.parametrize("provenance", [{}, {"trained_on": "towns"}, {"trained_on": [None, {"dataset": "towns"}]}])
def test_a_ranker_that_says_nothing_of_its_questions_has_seen_none(towns: Path, provenance: dict[str, Any]) -> None:
    file = towns.parent / "bare.json"
    file.write_text(format_ranker(WEIGHTS, [], provenance))
    assert count_seen([str(file)], questions_of(towns)) == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_rankers_name_their_questions(name: str) -> None:
    """The example was taken from one of their training sets."""
    sources = load_ranker(name).provenance["trained_on"]
    assert [source["dataset"] for source in sources] == ["musique-train-100", "hotpotqa-train-100"]
    assert [len(source["question_hashes"].split()) for source in sources] == [100, 100]
    (seen,) = count_seen([name], questions_of(EXAMPLE))
    assert (seen.dataset, seen.questions) == ("musique-train-100", 12)


def test_the_report_says_what_was_seen() -> None:
    seen = count_seen(["full"], questions_of(EXAMPLE)[:2])
    report = build_report([replace(result_of("d"), seen=seen)], None)
    assert report["seen_in_training"] == [{"ranker": "full", "dataset": "musique-train-100", "questions": 2}]


@pytest.mark.parametrize(
    ("searchers", "reasoners", "over", "found"),
    [
        (["bridged", "bridged:ranker=six", "bridged"], [], "bridged", ["full", "six"]),
        (["listwise:over=[bridged:ranker=six,facts=3]"], [], "bridged", ["six"]),
        (["listwise"], [], "sparse", ["full"]),
        ([], ["vanilla"], "bridged:ranker=six", ["six"]),
        ([], ["auto:searcher=bridged"], "sparse", ["full"]),
        ([], ["extractive"], "bridged", ["full"]),
        ([], ["level"], "bridged", []),
    ],
)
def test_rankers_are_found_in_nested_searchers_and_in_reasoners(
    searchers: list[str], reasoners: list[str], over: str, found: list[str]
) -> None:
    assert list_rankers(searchers, reasoners, over) == found
