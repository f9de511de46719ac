"""What the benchmarks make of a question set, and of reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation import read_dataset
from tests.benchmarks.comparison import comparison_table
from tests.benchmarks.glued import glue

EXAMPLE = Path(__file__).parents[3] / "examples" / "musique-small"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def glued(tmp_path: Path) -> Path:
    return glue(EXAMPLE, tmp_path / "glued")


def test_a_glued_document_is_ten_passages_word_for_word_and_the_same_every_time(glued: Path, tmp_path: Path) -> None:
    passages = {row["text"]: row for row in rows(EXAMPLE / "corpus.jsonl")}
    documents = rows(glued / "corpus.jsonl")
    parts = [document["text"].split("\n\n") for document in documents]
    assert [len(one) for one in parts] == [10] * 9 + [9]
    assert sorted(part for one in parts for part in one) == sorted(passages)
    assert [document["title"] for document in documents] == [passages[one[0]]["title"] for one in parts]
    dataset, again = read_dataset(glued), read_dataset(glue(EXAMPLE, tmp_path / "again"))
    assert (dataset.passages, len(dataset.questions)) == (10, 12)
    assert (again.fingerprint, again.questions) == (dataset.fingerprint, dataset.questions)


def test_each_span_is_the_text_of_its_passage(glued: Path) -> None:
    passages = {row["id"]: row["text"] for row in rows(EXAMPLE / "corpus.jsonl")}
    documents = {row["id"]: row["text"] for row in rows(glued / "corpus.jsonl")}
    for before, after in zip(rows(EXAMPLE / "questions.jsonl"), rows(glued / "questions.jsonl"), strict=True):
        assert after["question"] == before["question"]
        spans = [documents[one["id"]][one["start"] : one["end"]] for one in after["supporting"]]
        assert spans == [passages[key] for key in before["supporting"]]


def test_passages_of_one_question_are_apart(glued: Path) -> None:
    """In the set as it comes they stand together, so that unshuffled most would be in one document."""
    documents = [{one["id"] for one in question["supporting"]} for question in rows(glued / "questions.jsonl")]
    assert sum(len(keys) > 1 for keys in documents) > 8


def test_searchers_stand_side_by_side_in_markdown() -> None:
    scores = {"recall@2": 0.5, "recall@5": 0.75, "recall@10": 0.8, "all_recall@5": 0.6}
    found = {"mean": -0.154, "low": -0.2, "high": -0.1}
    noise = {"mean": 0.01, "low": -0.02, "high": 0.04}
    told = {name: {"to": "fused", "recall@5": recall} for name, recall in (("dense", found), ("graph", noise))}
    searchers = {name: {**scores, "difference": told.get(name)} for name in ("dense", "graph", "fused")}
    head, rule, *lines = comparison_table({"musique": {"searchers": searchers}}).splitlines()
    assert head.count("|") == rule.count("|") == 8
    assert lines == [
        "| musique | `dense` | 50.0 | 75.0 | 80.0 | 60.0 | **-15.4 (-20.0 to -10.0)** |",
        "| musique | `graph` | 50.0 | 75.0 | 80.0 | 60.0 | +1.0 (-2.0 to +4.0) |",
        "| musique | `fused` | 50.0 | 75.0 | 80.0 | 60.0 |  |",
    ]
