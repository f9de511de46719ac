"""`hopweave eval-report`: the page and the plans of a file of rows."""

import asyncio
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from app.container import Container
from cli.commands.evaluation.eval_report import register
from core.errors import InvalidInput, NotFound, Unavailable
from evaluation import Experiment, RowsFile, run_experiment
from tests.faults.disks import mounted
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Of two reasoners and two ways of asking."""
    folder = tmp_path_factory.mktemp("compared")
    write_townsfolk(folder / "towns", people=4)

    async def compare() -> Path:
        async with workbench(folder / "data") as container:
            return await _compare(container, folder)

    return asyncio.run(compare()).read_bytes()


@pytest.fixture
def rows(compared: bytes, tmp_path: Path) -> Path:
    """A copy, which a test may change."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(compared)
    return file


async def _compare(container: Container, folder: Path) -> Path:
    asked = Experiment(
        searchers=(), reasoners=("extractive:min_probability=0", "extractive:min_probability=1"), limit=3
    )
    with RowsFile(folder / "rows.jsonl") as file:
        result = await run_experiment(container, WorkerHere(), folder / "towns", asked, lambda *_: None, file)
        file.finish(result.rows())
    return file.path


def run(*arguments: object) -> tuple[str, BaseException | None]:
    app = typer.Typer()
    register(app)
    ran = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return ran.output, ran.exception


def test_the_page_is_made_of_the_rows(rows: Path, tmp_path: Path) -> None:
    shown, error = run(rows)
    assert error is None
    assert shown.startswith("# Reasoners compared")
    assert "## towns: 3 questions" in shown
    assert "The worst questions of `extractive:min\\_probability=1`" not in shown
    assert "### The worst questions of `extractive:min_probability=1`" in shown
    assert shown.count("- abstained: No sentence here") == 3
    said, error = run(rows, "-o", tmp_path / "page.md", "--worst", 1)
    assert (said, error) == ("", None)
    page = (tmp_path / "page.md").read_text()
    assert page.count("- abstained: No sentence here") == 1
    assert page.partition("### The worst")[0] == shown.partition("### The worst")[0]
    (tmp_path / "link.md").symlink_to(tmp_path / "page.md")
    assert run(rows, "-o", tmp_path / "link.md")[1] is None
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "page.md").read_text().count("- abstained: No sentence here") == 3, "it is replaced in its place"


def test_plans_are_written_beside_it(rows: Path, tmp_path: Path) -> None:
    """`extractive` plans nothing."""
    planned = json.loads(rows.read_text().splitlines()[0])
    planned["plan"] = [{"id": "1", "question": "Where?", "parents": []}]
    with rows.open("a") as file:
        file.write(json.dumps(planned) + "\n")
    _, error = run(rows, "-o", tmp_path / "page.md", "--plans", tmp_path / "plans.jsonl")
    assert error is None
    (line,) = (tmp_path / "plans.jsonl").read_text().splitlines()
    assert json.loads(line)["plan"] == planned["plan"]


def test_what_cannot_be_read_or_written_is_named(rows: Path, tmp_path: Path) -> None:
    assert isinstance(run(tmp_path / "nothing.jsonl")[1], NotFound)
    error = run(rows, "-o", f"{rows}/page.md")[1]
    assert isinstance(error, InvalidInput)
    assert "-o" in str(error)


def test_no_output_overwrites_the_rows_or_another_output(rows: Path, tmp_path: Path) -> None:
    before = rows.read_bytes()
    link = tmp_path / "link.jsonl"
    link.symlink_to(rows)
    for output, option in ((rows, "-o"), (link, "--plans")):
        _, error = run(rows, option, output)
        assert isinstance(error, InvalidInput)
        assert f"{option} {output} is a file of rows or of a dataset as well" in str(error)
    _, error = run(rows, "-o", tmp_path / "page.md", "--plans", tmp_path / "page.md")
    assert isinstance(error, InvalidInput)
    assert f"--plans {tmp_path / 'page.md'} is the file of -o as well" in str(error)
    assert rows.read_bytes() == before


def test_a_full_disk_is_named_and_the_old_page_stays(rows: Path, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    _, error = run(rows, "-o", full)
    assert isinstance(error, Unavailable)
    assert f"-o {full} cannot be written: No space left on device; the answers are kept" in str(error)
    with mounted(tmp_path / "disk", 1) as disk:
        page = disk.folder / "page.md"
        page.write_text("the page before")
        disk.fill()
        _, error = run(rows, "-o", page)
        assert isinstance(error, Unavailable)
        assert page.read_text() == "the page before"
        assert sorted(file.name for file in disk.folder.iterdir()) == ["filler", "page.md"]


def test_a_row_whose_texts_are_none_is_refused(rows: Path, tmp_path: Path) -> None:
    row = json.loads(rows.read_text().splitlines()[0])
    for wrong in ({"reasoner": 7}, {"question": None}, {"notes": "text"}, {"answer": []}):
        rows.write_text(json.dumps(row | wrong) + "\n")
        for more in ((), ("--plans", tmp_path / "plans.jsonl", "--plans-form", "chat")):
            _, error = run(rows, "-o", tmp_path / "page.md", *more)
            assert isinstance(error, InvalidInput)
            assert f"{rows} line 1: the row is of another release" in str(error)


def test_a_reasoner_without_answers_is_no_choice_of_plans(rows: Path, tmp_path: Path) -> None:
    """A misspelt name would give an empty file."""
    plans = ("-o", tmp_path / "page.md", "--plans", tmp_path / "plans.jsonl", "--plans-from")
    _, error = run(rows, *plans, "extractiv")
    assert isinstance(error, InvalidInput)
    assert "--plans-from 'extractiv' is none of the reasoners that answer; name one of: extractive" in str(error)
    assert run(rows, *plans, "extractive:min_probability=1")[1] is None
    assert run(rows, *plans, "extractive")[1] is None
