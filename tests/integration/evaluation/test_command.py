"""What `hopweave eval` refuses before it begins to work."""

import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cli.commands.evaluation.eval import register
from core.errors import InvalidInput

EXAMPLE = str(Path(__file__).parents[3] / "examples" / "musique-small")


def refusal(*arguments: str) -> BaseException | None:
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, list(arguments)).exception


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((EXAMPLE, "--fail-under", "recall@5"), "there is no metric"),
        ((EXAMPLE, EXAMPLE, "--questions", "mine.jsonl"), "one folder"),
        ((EXAMPLE, "--searcher", "fused", "--baseline", "dense"), "not compared; name one of: fused"),
        ((EXAMPLE, "--json", f"{__file__}/scores.json"), "--json"),
        ((EXAMPLE, "--reasoner", "extractive", "--report", f"{__file__}/page.md"), "--report"),
        ((EXAMPLE, "--reasoner", "extractive", "--plans", f"{__file__}/plans.jsonl"), "cannot be written"),
        ((EXAMPLE, "--reasoner", "extractive", "--plans", "DIR/questions.jsonl"), "rows or of a dataset as well"),
        ((EXAMPLE, "--reasoner", "extractive", "--report", "DIR/openie.jsonl"), "rows or of a dataset as well"),
        ((EXAMPLE, "--json", "x.json", "--reasoner", "extractive", "--report", "x.json"), "the file of --json as well"),
        ((EXAMPLE, "--reasoner", "par", "--plans", "p.jsonl", "--plans-from", "pair"), "none of the reasoners"),
        ((EXAMPLE, "--where", '{"a": ' + "[" * 9999), "--where has a number with thousands of digits, or is nested"),
        ((EXAMPLE, "--where", '{"a": ' + "1" * 9999 + "}"), "--where has a number with thousands of digits"),
        ((EXAMPLE, "--report", "page.md"), "name one with --reasoner"),
        ((EXAMPLE, "--limit", "3", "--sample", "3"), "give one of them"),
        ((EXAMPLE, "--corpus", "mine", "--corpus-sample", "3"), "--corpus-sample draws passages of a folder"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_indexed(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    copy = shutil.copytree(EXAMPLE, tmp_path / "copy")
    (copy / "openie.jsonl").unlink()
    before = sorted(copy.iterdir())
    error = refusal(*(argument.replace("DIR", str(copy)).replace(EXAMPLE, str(copy)) for argument in arguments))
    assert isinstance(error, InvalidInput)
    assert said in str(error)
    assert not (tmp_path / "data").exists()
    assert sorted(copy.iterdir()) == before
