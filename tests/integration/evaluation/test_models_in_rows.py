"""Rows name the models and prompts behind their answers, and a report of two runs tells the models apart."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cli.commands.evaluation.eval_report import register
from evaluation import Experiment, RowsFile, run_experiment
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench
from tests.twins.chat_server import ChatServer, Reply

KEY = "sk-secret"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(models=("qwen-1.5b", "large", "planner")) as scripted:
        scripted.respond = lambda _: Reply.json({"answer": "", "support": "none", "unstated": "all"})
        scripted.model_fields = {"owned_by": "llamacpp"}
        yield scripted


async def compare(folder: Path, server: ChatServer, model: str, reasoner: str = "vanilla", **settings: Any) -> Path:
    """Runs `reasoner` on two questions, in a data folder that all runs share, and returns its file of rows."""
    if not (folder / "towns").exists():
        write_townsfolk(folder / "towns", people=3)
    address = server.url.replace("//", "//user:pass@")
    llm = {"base_url": address, "api_key": KEY, "model": model, "retries": 0, "cache": False, **settings.pop("llm", {})}
    async with workbench(folder / "data", llm=llm, **settings) as container:
        asked = Experiment(searchers=(), reasoners=(reasoner,), over="sparse", limit=2)
        with RowsFile(folder / f"{model}.rows.jsonl") as file:
            result = await run_experiment(container, WorkerHere(), folder / "towns", asked, lambda *_: None, file)
            file.finish(result.rows())
        assert result.reasoners[reasoner]["failed"] == 0
    return file.path


def read(rows: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in rows.read_text().splitlines()]


async def test_a_row_names_its_models_and_has_no_address(tmp_path: Path, server: ChatServer) -> None:
    roles = {
        "plan": {"model": "planner", "temperature": 0.3},
        "judge": {"model": "large"},
        "extract": {"model": "large"},
    }
    rows = await compare(tmp_path, server, "qwen-1.5b", llm={"max_output_tokens": 700, "roles": roles})
    for row in read(rows):
        general, planner = row["models"]
        assert general == {
            "name": "qwen-1.5b", "endpoint": "llama.cpp", "role": "", "temperature": None,
            "max_output_tokens": 700, "profile": "small",
        }  # fmt: skip
        assert (planner["role"], planner["name"], planner["temperature"]) == ("plan", "planner", 0.3)
        assert len(row["prompt_set"]) == 8
    for secret in (KEY, "127.0.0.1", "user:pass", str(tmp_path)):
        assert secret not in rows.read_text()


async def test_no_model_is_named_where_none_has_a_part(tmp_path: Path, server: ChatServer) -> None:
    rows = await compare(tmp_path, server, "large", "extractive")
    assert [(row["models"], row["prompt_set"]) for row in read(rows)] == [([], "")] * 2
    assert not server.calls


async def test_a_folder_of_prompts_is_named(tmp_path: Path, server: ChatServer) -> None:
    own = tmp_path / "terse"
    own.mkdir()
    (own / "refine.md").write_text(
        "Write the next question anew.\n--- user ---\n{{question}}\n{{known}}\n{{next}}\n", "utf-8"
    )
    plain = read(await compare(tmp_path, server, "large"))[0]["prompt_set"]
    named = read(await compare(tmp_path, server, "planner", prompts_dir=own))[0]["prompt_set"]
    assert named.startswith("terse ")
    assert named.removeprefix("terse ") != plain


async def test_the_published_prompts_are_named(tmp_path: Path, server: ChatServer) -> None:
    rows = read(await compare(tmp_path, server, "large", prompts_dir=Path("published")))
    assert {row["prompt_set"].split()[0] for row in rows} == {"published"}


async def test_a_report_of_two_runs_has_both_models(tmp_path: Path, server: ChatServer) -> None:
    files = [await compare(tmp_path, server, model) for model in ("qwen-1.5b", "large")]
    app = typer.Typer()
    register(app)
    ran = CliRunner().invoke(app, list(map(str, files)))
    assert ran.exception is None
    for name in ("vanilla, qwen-1.5b, small", "vanilla, large, large"):
        assert f"| `{name}` | `all` | `{name.split(', ')[1]}` | `llama.cpp` |" in ran.output
        assert ran.output.count(f"| `{name}` |") >= 4
    assert "run 2" not in ran.output
