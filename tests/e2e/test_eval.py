"""`hopweave eval` and `hopweave reproduce` as they are installed: ended in the middle, and taken up again."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.twins.chat_server import Call, ChatServer, Reply

pytestmark = pytest.mark.slow

_HOPWEAVE = Path(sys.executable).with_name("hopweave")
_LONGEST = 240.0
ANSWER = {"answer": "Barel"}
CITING = {"answer": "Barelmouth", "support": "inferred", "unstated": ""}


def begin(folder: Path, server: ChatServer, *arguments: object) -> subprocess.Popen[str]:
    settings = {
        "HOPWEAVE_DATA_DIR": str(folder / "data"),
        "HOPWEAVE_LLM__BASE_URL": server.url,
        "HOPWEAVE_LLM__CACHE": "false",
        "HOPWEAVE_LLM__SEND_METADATA": "true",
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.Popen(
        [_HOPWEAVE, *map(str, arguments)],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def hang_at(calls: int, call: Call, answer: dict[str, str] = ANSWER) -> Reply:
    """The last of so many calls is never answered."""
    return Reply(stall=True) if call.number == calls - 1 else Reply.json(answer)


def test_a_comparison_that_was_ended_goes_on(tmp_path: Path) -> None:
    """Killed when two questions were answered, and interrupted after one more; only the others are asked afterwards."""
    write_townsfolk(tmp_path / "towns", people=5)
    asked = ("--reasoner", "direct", "--model", "m", "--unsupported", "memory", "--sample", 5)
    arguments = (
        "eval",
        tmp_path / "towns",
        *asked,
        "--json",
        tmp_path / "scores.json",
        "--report",
        tmp_path / "page.md",
    )
    with ChatServer() as server:
        for how, code, calls in ((signal.SIGKILL, -9, 3), (signal.SIGINT, 130, 3 + 2)):
            server.respond = functools.partial(hang_at, calls)
            ended = begin(tmp_path, server, *arguments)
            deadline = time.monotonic() + _LONGEST
            while len(server.calls) < calls and ended.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            ended.send_signal(how)
            _, said = ended.communicate(timeout=_LONGEST)
            assert (ended.returncode, len(server.calls)) == (code, calls), said
        server.respond = lambda _: Reply.json(ANSWER)
        again = begin(tmp_path, server, *arguments)
        _, said = again.communicate(timeout=_LONGEST)
        assert (again.returncode, len(server.calls)) == (0, 5 + 2), said
    assert "## towns: 5 questions" in (tmp_path / "page.md").read_text()
    report = json.loads((tmp_path / "scores.json").read_text())
    assert report["reasoners"]["direct"]["failed"] == 0
    assert report["reasoners"]["direct"]["calls_per_query"] == 1.0
    rows = [json.loads(line) for line in Path(report["rows"]).read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [f"q{number}" for number in range(5)]


def test_a_table_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    """Interrupted in the second of two rows; only what is missing is asked afterwards."""
    write_townsfolk(tmp_path / "hotpotqa", people=2)
    rows = ("--only", "Vanilla RAG", "--only", "CoT")
    arguments = ("reproduce", "plan_star.2", "--dataset", tmp_path / "hotpotqa", *rows, "--model", "m")
    with ChatServer() as server:
        server.respond = functools.partial(hang_at, 4, answer=CITING)
        ended = begin(tmp_path, server, *arguments)
        deadline = time.monotonic() + _LONGEST
        while len(server.calls) < 4 and ended.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        ended.send_signal(signal.SIGINT)
        _, said = ended.communicate(timeout=_LONGEST)
        assert (ended.returncode, len(server.calls)) == (130, 4), said
        assert "estimate: 2 questions × 2 rows: about 4 calls" in said
        server.respond = lambda _: Reply.json(CITING)
        again = begin(tmp_path, server, *arguments, "-o", tmp_path / "table.md")
        shown, said = again.communicate(timeout=_LONGEST)
        assert (again.returncode, len(server.calls)) == (0, 4 + 1), said
    assert "Counted: 4 calls and" in shown
    (line,) = (line for line in (tmp_path / "table.md").read_text().splitlines() if line.startswith("| CoT |"))
    assert line == "| CoT | 50.0 (–) |"
    assert "CoT" in shown
