"""A comparison goes on where it ended, asks again what failed, and uses no row that something else has made."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.container import Container
from core.ports.reasoning import Unsupported
from evaluation import Experiment, Result, RowsFile, run_experiment
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere

ASKED = Experiment(searchers=(), reasoners=("extractive",), over="sparse")


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    write_townsfolk(tmp_path / "towns", people=6)
    return tmp_path / "towns"


class Asked:
    """Runs comparisons over one rows file and knows what was asked in each, rather than taken from the file."""

    def __init__(self, container: Container, folder: Path) -> None:
        self.container = container
        self.folder = folder
        self.path = folder / "rows.jsonl"
        self.asked: list[int] = []

    async def compare(self, experiment: Experiment = ASKED, *, fresh: bool = False) -> Result:
        self.asked = []
        with RowsFile(self.path, fresh=fresh) as rows:
            result = await run_experiment(self.container, WorkerHere(), self.folder, experiment, self.progress, rows)
            rows.finish(result.rows())
            return result

    def progress(self, what: str, done: int, total: int) -> None:
        if what != "indexing":
            self.asked.append(done)

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]


@pytest.fixture
def asked(container: Container, towns: Path) -> Asked:
    return Asked(container, towns)


class _EndedError(Exception):
    """Stands for what ends a process in the middle."""


async def test_an_interrupted_comparison_goes_on_where_it_ended(asked: Asked) -> None:
    def ends(what: str, done: int, _total: int) -> None:
        if (what, done) == ("extractive", 2):
            raise _EndedError

    with pytest.raises(ExceptionGroup), RowsFile(asked.path) as rows:
        await run_experiment(asked.container, WorkerHere(), asked.folder, ASKED, ends, rows)
    assert [row["question_id"] for row in asked.rows()] == ["q0", "q1"]
    result = await asked.compare()
    assert asked.asked == [3, 4, 5, 6]
    assert [row.question_id for row in result.answers] == [f"q{n}" for n in range(6)]
    assert [row["question_id"] for row in asked.rows()] == [f"q{n}" for n in range(6)]
    again = await asked.compare()
    assert asked.asked == []
    assert again.answers == result.answers
    assert again.reasoners == result.reasoners


OTHERS = (
    replace(ASKED, over="dense"),
    replace(ASKED, k=2),
    replace(ASKED, reasoners=("extractive:sentences=1",)),
    replace(ASKED, extractor="pattern+given"),
    replace(ASKED, lowercase=True),
    replace(ASKED, unsupported=Unsupported.ABSTAIN),
    replace(ASKED, unanswerable=True),
)


async def test_another_comparison_asks_for_itself_and_leaves_the_rows_of_the_others(asked: Asked) -> None:
    for other in (ASKED, *OTHERS):
        await asked.compare(other)
        assert asked.asked == [1, 2, 3, 4, 5, 6], other
    for known in (ASKED, *OTHERS):
        await asked.compare(known)
        assert asked.asked == [], known


async def test_an_option_that_is_the_default_is_no_other_reasoner(asked: Asked) -> None:
    await asked.compare()
    await asked.compare(replace(ASKED, reasoners=("extractive:sentences=3",)))
    assert asked.asked == []


async def test_a_sample_is_a_part_of_the_whole_and_takes_its_rows(asked: Asked) -> None:
    whole = await asked.compare()
    sampled = await asked.compare(replace(ASKED, sample=3, seed=5))
    assert asked.asked == []
    assert len(sampled.answers) == 3
    assert list(sampled.answers) == [row for row in whole.answers if row in sampled.answers]


async def test_a_question_that_has_changed_is_asked_again(asked: Asked) -> None:
    await asked.compare()
    file = asked.folder / "questions.jsonl"
    lines = file.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "answer": "Other"})
    file.write_text("\n".join(lines))
    result = await asked.compare()
    assert asked.asked == [6]
    assert len(result.answers) == 6


async def test_fresh_asks_all_again(asked: Asked) -> None:
    await asked.compare()
    await asked.compare(fresh=True)
    assert asked.asked == [1, 2, 3, 4, 5, 6]
    assert len(asked.rows()) == 6


async def test_what_failed_is_asked_again(asked: Asked) -> None:
    file = asked.folder / "questions.jsonl"
    long = {"id": "long", "question": "why " * 6000, "answer": "x", "supporting": []}
    file.write_text(file.read_text() + json.dumps(long) + "\n")
    result = await asked.compare()
    assert result.reasoners["extractive"]["failed"] == 1
    await asked.compare()
    assert asked.asked == [7]
    assert sum(row["question_id"] == "long" for row in asked.rows()) == 1


async def test_many_at_once_are_reported_in_their_order(asked: Asked) -> None:
    result = await asked.compare(replace(ASKED, concurrency=4))
    assert [row.question_id for row in result.answers] == [f"q{n}" for n in range(6)]
    assert [row["question_id"] for row in asked.rows()] == [f"q{n}" for n in range(6)]
    alone = await asked.compare(replace(ASKED, concurrency=1))
    assert asked.asked == []
    assert alone.answers == result.answers
