"""`hopweave eval` as it is installed: killed in the middle, and taken up again."""

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


def begin(folder: Path, server: ChatServer, *arguments: object) -> subprocess.Popen[str]:
    settings = {
        "HOPWEAVE_DATA_DIR": str(folder / "data"),
        "HOPWEAVE_LLM__BASE_URL": server.url,
        "HOPWEAVE_LLM__CACHE": "false",
        "HOPWEAVE_LLM__SEND_METADATA": "true",
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.Popen(
        [_HOPWEAVE, "eval", *map(str, arguments)],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def third_hangs(call: Call) -> Reply:
    return Reply(stall=True) if call.number == 2 else Reply.json(ANSWER)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_comparison_that_was_ended_goes_on(tmp_path: Path, how: signal.Signals, code: int) -> None:
    """Two questions were answered when it ended; only the other three are asked afterwards."""
    write_townsfolk(tmp_path / "towns", people=5)
    asked = ("--reasoner", "direct", "--model", "m", "--unsupported", "memory", "--sample", 5)
    arguments = (tmp_path / "towns", *asked, "--json", tmp_path / "scores.json", "--report", tmp_path / "page.md")
    with ChatServer(respond=third_hangs) as server:
        ended = begin(tmp_path, server, *arguments)
        deadline = time.monotonic() + _LONGEST
        while len(server.calls) < 3 and ended.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        ended.send_signal(how)
        _, said = ended.communicate(timeout=_LONGEST)
        assert (ended.returncode, len(server.calls)) == (code, 3), said
        server.respond = lambda _: Reply.json(ANSWER)
        again = begin(tmp_path, server, *arguments)
        _, said = again.communicate(timeout=_LONGEST)
        assert (again.returncode, len(server.calls)) == (0, 6), said
    assert "## towns: 5 questions" in (tmp_path / "page.md").read_text()
    report = json.loads((tmp_path / "scores.json").read_text())
    assert report["reasoners"]["direct"]["failed"] == 0
    assert report["reasoners"]["direct"]["calls_per_query"] == 1.0
    rows = [json.loads(line) for line in Path(report["rows"]).read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [f"q{number}" for number in range(5)]
