"""`hopweave calibrate-extractive`: what it measures, and what it refuses."""

import io
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from app.container import Container
from cli.commands.evaluation.calibrate_extractive import register
from core.errors import InvalidInput
from evaluation import build_calibration_report, build_calibration_tables, measure_probabilities, read_calibration_sets
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import EXAMPLE, WorkerHere


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    file = tmp_path / "foreign.jsonl"
    file.write_text("".join(f'{{"id": "f{n}", "question": "qq{n} zz{n} xx?"}}\n' for n in range(6)))
    return file


async def test_questions_of_the_corpus_are_nearer_than_foreign_ones(
    container: Container, foreign: Path, tmp_path: Path
) -> None:
    write_townsfolk(tmp_path / "towns", people=6)
    (one,) = read_calibration_sets([tmp_path / "towns"], foreign)
    assert (len(one.answerable), len(one.unanswerable)) == (6, 6)
    values = await measure_probabilities(
        container, WorkerHere(), one, searcher="fused", extractor="pattern", chunker="passage", progress=lambda *_: None
    )
    report = build_calibration_report({"towns": values}, container.embedder.model, seed=0)
    assert report["datasets"]["towns"]["balanced_accuracy"] == 1.0
    assert max(values.unanswerable) < report["threshold"] <= min(values.answerable)
    file = io.StringIO()
    Console(width=100, file=file).print(build_calibration_tables(report))
    assert f"extractive:min_probability={report['threshold']:g}, for twin" in " ".join(file.getvalue().split())


def test_the_questions_of_each_dataset_are_foreign_to_the_others(tmp_path: Path) -> None:
    write_townsfolk(tmp_path / "towns", people=5)
    example, towns = read_calibration_sets([EXAMPLE, tmp_path / "towns"], None)
    assert (len(example.answerable), len(example.unanswerable)) == (12, 5)
    assert (len(towns.answerable), len(towns.unanswerable)) == (5, 12)


def test_one_kind_of_question_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    app = typer.Typer()
    register(app)
    error = CliRunner().invoke(app, [str(EXAMPLE)]).exception
    assert isinstance(error, InvalidInput)
    assert "--unanswerable" in str(error)
    assert not (tmp_path / "data").exists()
