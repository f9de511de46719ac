"""The lines and files of logs, in processes of their own: the configuration is that of a process."""

import json
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import logging, os, sys
from pathlib import Path
from app.telemetry.logs import configure_logs, log_to_file
from core.settings import LogSettings
from core.telemetry.logs import log_event
from core.telemetry.logs import set_request_id
log = logging.getLogger("hopweave.worker")
"""


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", _PROGRAM + code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr


_LINE = 'set_request_id("abc"); log_event(log, logging.INFO, "document indexed", document="a b\\nc", seconds=0.25)'


def test_json_has_one_object_a_line() -> None:
    [line] = _run(f'configure_logs(LogSettings(format="json"))\n{_LINE}').splitlines()
    found = json.loads(line)
    assert found.pop("pid")
    assert found.pop("timestamp").endswith("Z")
    assert found == {
        "event": "document indexed",
        "level": "info",
        "logger": "hopweave.worker",
        "request_id": "abc",
        "document": "a b\nc",
        "seconds": 0.25,
    }


def test_text_is_one_line_with_the_same_fields() -> None:
    [line] = _run(f"configure_logs(LogSettings())\n{_LINE}").splitlines()
    assert " info    hopweave.worker document indexed " in line
    for field in ("request_id=abc", 'document="a b\\nc"', "seconds=0.25"):
        assert field in line


def test_the_level_is_that_of_the_settings() -> None:
    assert _run(f'configure_logs(LogSettings(level="WARNING"))\n{_LINE}') == ""


def test_a_traceback_follows_its_line() -> None:
    told = _run('configure_logs(LogSettings())\ntry: 1 / 0\nexcept ZeroDivisionError: log.exception("failed")')
    first, *_, last = told.splitlines()
    assert "failed" in first
    assert last == "ZeroDivisionError: division by zero"


def test_several_processes_write_one_file_and_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "serve.log"
    code = f"""
log_to_file(LogSettings(file_mb=0.01, files=2), Path({str(path)!r}))
for number in range(2000):
    log.info("a line of the log with the number %d", number)
"""
    processes = [subprocess.Popen([sys.executable, "-c", _PROGRAM + code]) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert {one.name for one in tmp_path.iterdir()} == {"serve.log", "serve.log.1", "serve.log.2"}
    # A file is larger than its limit by what one process writes while the other, stopped by the system, replaces it.
    assert sum(one.stat().st_size for one in tmp_path.iterdir()) < 2 * 2000 * 90 / 4, "of all lines, most are gone"
    assert all(one.stat().st_mode & 0o077 == 0 for one in tmp_path.iterdir())
    lines = [line for one in tmp_path.iterdir() for line in one.read_text("utf-8").splitlines()]
    assert all("a line of the log with the number" in line for line in lines), "no line is torn"


def test_a_full_file_is_replaced_also_by_what_libraries_write_to_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    code = f"""
log_to_file(LogSettings(file_mb=0.01, files=2), Path({str(path)!r}))
for number in range(1000):
    log.info("a line of the log with the number %d", number)
    os.write(2, b"a library writes here\\n")
    print("and here")
"""
    assert _run(code) == ""
    assert sorted(one.name for one in tmp_path.iterdir()) == ["worker.log", "worker.log.1", "worker.log.2"]
    assert sum(one.stat().st_size for one in tmp_path.iterdir()) < 3 * 12_000
    text = path.read_text("utf-8") + (tmp_path / "worker.log.1").read_text("utf-8")
    assert "number 999" in text
    assert "a library writes here" in text


def test_a_process_goes_on_without_its_log_file_and_with_it_again(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "worker.log"
    code = f"""
import shutil
path = Path({str(path)!r})
path.parent.mkdir()
log_to_file(LogSettings(), path)
shutil.rmtree(path.parent)
for _ in range(3): log.info("the folder is gone")
path.mkdir(parents=True)
for _ in range(3): log.info("a folder is there")
path.rmdir()
log.info("the last line")
"""
    assert _run(code) == ""
    [line] = path.read_text("utf-8").splitlines()
    assert "the last line" in line


_HANGS = """
import asyncio, signal, threading
from api.transport.turns import Turns

async def answer(*_): await asyncio.Event().wait()

async def work():
    request = Turns(answer)({"type": "http", "client": ("127.0.0.1", 1), "path": "/"}, None, None)
    task = asyncio.create_task(request, name="a question")
    await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGUSR2)

configure_logs(LogSettings())
asyncio.run(work())
"""


def test_a_process_that_hangs_tells_what_each_thread_and_task_does() -> None:
    threads, _, tasks = _run(_HANGS).partition("Task ")
    assert "most recent call first" in threads
    [question] = [told for told in tasks.split("Task ") if told.startswith("a question:")]
    assert [name for name in ("__call__", "_run", "answer", "wait") if f" in {name}\n" not in question] == []
