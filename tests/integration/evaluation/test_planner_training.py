"""Plans as chat messages: those that the planner was sent and wrote, of chosen reasoners and good answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cli.commands.evaluation.eval_report import register
from core.errors import InvalidInput
from core.prompting.prompts import read_prompt_folder
from evaluation import (
    AnswerRow,
    Experiment,
    PlanForm,
    PlanSelection,
    RowsFile,
    build_plan_lines,
    read_answers,
    run_experiment,
)
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import Call, ChatServer, Reply

NODES = [
    {"id": "Q1.1", "question": "Where was Barina Mouth born?"},
    {"id": "Q2.1", "question": "On which river is <A1.1>?"},
]
CHAT = PlanSelection(form=PlanForm.CHAT)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    def respond(call: Call) -> Reply:
        if call.role == "plan_dag" and "Barina" in call.text:
            return Reply.json({"nodes": NODES})
        if call.role == "plan_dag":
            return Reply.json({"nodes": [{"id": "Q0.1", "question": "a question in other words"}]})
        if call.role == "fill_tags":
            return Reply.json({"question": "On which river is Barmouth?"})
        return answers(call)

    answers = good_model("Barelmouth", "Where was Barina Mouth born?")
    with ChatServer() as scripted:
        scripted.respond = respond
        yield scripted


@pytest.fixture
async def rows(tmp_path: Path, server: ChatServer) -> Path:
    """Of `plan_star`, which divides the first question and answers it right, and of `par`, which plans without tags."""
    write_townsfolk(tmp_path / "towns", people=2)
    llm = {"base_url": server.url, "model": "scripted", "send_metadata": True, "retries": 0, "cache": False}
    async with workbench(tmp_path / "data", llm=llm) as container:
        asked = Experiment(searchers=(), reasoners=("plan_star:max_nodes=4", "par"), over="sparse")
        with RowsFile(tmp_path / "rows.jsonl") as file:
            result = await run_experiment(container, WorkerHere(), tmp_path / "towns", asked, lambda *_: None, file)
            file.finish(result.rows())
    assert all(row.error is None for row in result.answers)
    return file.path


def read(path: Path) -> list[AnswerRow]:
    return [row for own in read_answers(path).values() for row in own]


def messages(line: str) -> list[dict[str, str]]:
    value: dict[str, Any] = json.loads(line)
    assert list(value) == ["messages"]
    return list(value["messages"])


def test_the_messages_are_those_of_the_planning_call_and_its_reply(rows: Path, server: ChatServer) -> None:
    lines, left_out = build_plan_lines(read(rows), CHAT)
    sent = [call.messages for call in server.calls if call.role == "plan_dag"]
    assert [messages(line)[:2] for line in lines] == sent
    replies = [messages(line)[2] for line in lines]
    assert {reply["role"] for reply in replies} == {"assistant"}
    first, second = (json.loads(reply["content"]) for reply in replies)
    assert first == {"nodes": NODES}
    assert second == {"nodes": [{"id": "Q0.1", "question": "On which river is the town where Corina Mouth was born?"}]}
    assert left_out == 2


def test_plans_are_chosen_by_reasoner_and_score(rows: Path) -> None:
    every = read(rows)
    assert build_plan_lines(every, PlanSelection(form=PlanForm.CHAT, reasoners=("par",))) == ([], 2)
    chosen = PlanSelection(form=PlanForm.CHAT, reasoners=("plan_star",), min_f1=1)
    (line,), left_out = build_plan_lines(every, chosen)
    assert (json.loads(messages(line)[2]["content"]), left_out) == ({"nodes": NODES}, 0)
    named = PlanSelection(reasoners=("plan_star:max_nodes=4",))
    (line,), _ = build_plan_lines(every, named)
    assert json.loads(line)["reasoner"] == "plan_star:max_nodes=4"
    assert len(build_plan_lines(every, PlanSelection(min_f1=0.5))[0]) == 2
    lines, _ = build_plan_lines([*every, *every], CHAT)
    assert len(lines) == 2


def test_prompts_of_a_folder_stand_in_the_messages(rows: Path, tmp_path: Path) -> None:
    own = tmp_path / "terse"
    own.mkdir()
    text = "Plan in {{max_nodes}} nodes, {{max_depth}} deep.\n--- user ---\n{{question}}\n"
    (own / "plan_dag.md").write_text(text, "utf-8")
    lines, _ = build_plan_lines(read(rows), CHAT, read_prompt_folder(own, ("reasoning",)))
    assert messages(lines[0])[0] == {"role": "system", "content": "Plan in 4 nodes, 6 deep."}


def run(*arguments: object) -> tuple[str, BaseException | None]:
    app = typer.Typer()
    register(app)
    ran = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return ran.stderr, ran.exception


def test_the_command_writes_what_is_chosen_and_says_what_is_left_out(rows: Path, tmp_path: Path) -> None:
    plans = tmp_path / "plans.jsonl"
    page = ("-o", tmp_path / "page.md")
    said, error = run(rows, *page, "--plans", plans, "--plans-form", "chat")
    assert error is None
    assert said.splitlines() == [f"{plans}: 2 plans", "2 plans of another form than that of plan_star left out"]
    said, error = run(
        rows, *page, "--plans", plans, "--plans-form", "chat", "--plans-from", "plan_star", "--plans-min-f1", 1
    )
    assert (said.splitlines(), error) == ([f"{plans}: 1 plan"], None)
    assert [one["role"] for one in messages(plans.read_text())] == ["system", "user", "assistant"]
    _, error = run(rows, *page, "--plans-min-f1", 1)
    assert isinstance(error, InvalidInput)
    assert "name a file with --plans" in str(error)
