"""`hopweave eval` with questions that run at once, of which one ends the comparison."""

import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.flows import evaluation
from core.errors import Unavailable
from tests.integration.cli.conftest import Hopweave, use_model
from tests.twins.chat_server import Call, ChatServer, Reply

ANSWER = Reply.json({"answer": "Charles Babbage [1]", "support": "stated", "unstated": ""})


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer(respond=lambda _: ANSWER) as chat:
        use_model(monkeypatch, chat, CACHE="false")
        yield chat


def test_rows_that_cannot_be_written_end_in_one_line_and_the_same_command_goes_on(
    hopweave: Hopweave, corpus: str, chat: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "set").mkdir()
    questions = [
        {"id": f"q{n}", "question": f"Who designed engine {n}?", "answer": "Charles Babbage", "supporting": []}
        for n in range(4)
    ]
    (tmp_path / "set" / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)) + "\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_disk(_: Call) -> Reply:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, limits[1]))
        return ANSWER

    chat.respond = fill_disk
    command = ["eval", tmp_path / "set", "--corpus", corpus, "--reasoner", "vanilla", "--over", "sparse"]
    command += ["--concurrency", "2", "--rows", tmp_path / "rows.jsonl"]
    try:
        ended = hopweave(*command)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"hopweave: {tmp_path}/rows.jsonl cannot be written: File too large; the rows so far are kept, and the same "
        "command goes on when there is room"
    )
    assert "Traceback" not in ended.err
    chat.respond = lambda _: ANSWER
    assert hopweave(*command).code == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert [row["question_id"] for row in rows] == ["q0", "q1", "q2", "q3"]


def test_of_several_errors_the_first_that_is_told_in_one_line_is_raised() -> None:
    told = Unavailable("no room")
    nested = ExceptionGroup("questions", [KeyError("x"), ExceptionGroup("inner", [told, Unavailable("again")])])
    assert evaluation._find_said(nested) is told
    unknown = ExceptionGroup("questions", [KeyError("x")])
    assert evaluation._find_said(unknown) is unknown
