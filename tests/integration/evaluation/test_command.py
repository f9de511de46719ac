"""What `hopweave eval` refuses before it begins to work."""

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
        ((EXAMPLE, "--report", "page.md"), "name one with --reasoner"),
        ((EXAMPLE, "--limit", "3", "--sample", "3"), "give one of them"),
        ((EXAMPLE, "--corpus", "mine", "--corpus-sample", "3"), "--corpus-sample draws passages of a folder"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_indexed(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    error = refusal(*arguments)
    assert isinstance(error, InvalidInput)
    assert said in str(error)
    assert not (tmp_path / "data").exists()
