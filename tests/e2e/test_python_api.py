"""The Python API over the server process that it starts."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hopweave
from app.supervision.folder_lock import is_held, read_holder
from tests.e2e.wheels import ROOT
from tests.waiting import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.slow

_HOLD = """
import os, sys, time
import hopweave
client = hopweave.open("data")
print(client._child._process.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1"}


def test_the_programs_of_the_documentation_run_in_an_empty_folder(tmp_path: Path, environment: dict[str, str]) -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    blocking, asynchronous = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    said = [_run(program, tmp_path, environment) for program in (blocking, asynchronous)]
    assert "2 documents are indexed\nbabbage " in said[0]
    assert "1 ada Ada Lovelace wrote the first program." in said[0]
    assert "searched for Who wrote the first program?" in said[1]
    assert "Ada Lovelace wrote the first program." in said[1]


def test_no_process_stays_when_ours_is_killed(tmp_path: Path, environment: dict[str, str]) -> None:
    ours = subprocess.Popen(
        [sys.executable, "-c", _HOLD], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert ours.stdout is not None
    server = int(ours.stdout.readline())
    wait_until(lambda: is_held(tmp_path / "data") and read_holder(tmp_path / "data") is not None)
    worker = read_holder(tmp_path / "data")
    assert worker is not None
    assert _is_there(server)
    assert _is_there(worker.pid)
    ours.send_signal(signal.SIGKILL)
    ours.communicate(timeout=PATIENCE_SECONDS)
    wait_until(lambda: not _is_there(server) and not _is_there(worker.pid))
    told = (tmp_path / "data" / "worker.log").read_text("utf-8")
    assert "the process that started this worker has ended" in told


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(hopweave.ServerEndedError) as ended:
        hopweave.open(tmp_path / "data", settings={"HOPWEAVE_SEARCHER": "nobody"})
    assert re.fullmatch(
        r"the server of .*data ended with exit code 2: hopweave: there is no searcher .*", str(ended.value)
    )


def test_a_server_that_has_ended_says_so(tmp_path: Path) -> None:
    with hopweave.open(tmp_path / "data") as client:
        assert client.list_corpora() == []
        child = client._child
        assert child is not None
        assert child._process is not None
        child._process.kill()
        with pytest.raises(hopweave.ServerEndedError, match="ended with exit code -9"):
            client.list_corpora()
    with pytest.raises(hopweave.ServerEndedError, match="does not run"):
        client.list_corpora()


async def test_an_asynchronous_client_that_was_not_entered_says_so(tmp_path: Path) -> None:
    client = hopweave.open_async(tmp_path / "data")
    with pytest.raises(hopweave.ServerEndedError, match="inside `async with`"):
        await client.list_corpora()
    await client.aclose()


def test_a_client_that_nobody_closed_stops_its_server_whose_log_is_bounded(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    program = "import hopweave; client = hopweave.open('data'); print(client._child._process.pid)"
    assert not _is_there(int(_run(program, tmp_path, {**environment, "HOPWEAVE_LOG__FILE_MB": "0.0003"})))
    logs = sorted((tmp_path / "data").glob("serve.log*"))
    assert [log.name for log in logs][:2] == ["serve.log", "serve.log.1"]
    assert all(log.stat().st_mode & 0o077 == 0 for log in logs)


def _run(program: str, folder: Path, environment: dict[str, str]) -> str:
    command = [sys.executable, "-P", "-X", "dev", "-W", "error", "-c", program]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _is_there(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return False
