"""What `hopweave train-ranker` refuses before it begins to work."""

import re
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cli.commands.evaluation.train_ranker import register
from core.errors import HopweaveError
from tests.integration.evaluation.townsfolk import write_townsfolk


@pytest.fixture
def towns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    write_townsfolk(tmp_path / "towns", people=20)
    return tmp_path / "towns"


def refusal(*arguments: object) -> str:
    app = typer.Typer()
    register(app)
    error = CliRunner().invoke(app, [*map(str, arguments)]).exception
    assert isinstance(error, HopweaveError), error
    return str(error)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("file/mine.json", "cannot be written: .*; name another file"),
        ("towns", "is a folder; name a file"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_a_file_that_cannot_be_written_is_found_at_once(towns: Path, tmp_path: Path, target: str, said: str) -> None:
    (tmp_path / "file").write_text("no folder")
    assert re.search(said, refusal(towns, "-o", tmp_path / target))
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "towns"]


def test_wrong_usage_leaves_nothing_behind(towns: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    write_townsfolk(tmp_path / "few", people=3)
    assert "there is no recipe 'seven'; there are: full, six" in refusal(towns, "-o", mine, "--recipe", "seven")
    assert "3 questions are too few" in refusal(tmp_path / "few", "-o", mine)
    assert "nowhere" in refusal(towns, tmp_path / "nowhere", "-o", mine)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["few", "towns"]


def test_what_is_not_installed_is_found_at_once(towns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as Python itself marks what cannot be imported
    assert "pip install 'hopweave[train]'" in refusal(towns, "-o", tmp_path / "mine.json")
    assert not (tmp_path / "data").exists()
