"""The parser process: its limits, what it can reach, and that the worker lives on."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.errors import LoadFailed, Unavailable
from core.ports.indexing import LoadedDocument
from indexer.isolation.confinement import FILES, MEMORY, SOCKETS
from indexer.isolation.limits import MEGABYTE, ParserLimits
from indexer.isolation.parser_process import IsolatedLoader, ParserProcess
from testing.contracts.loader import source_of
from tests.integration.isolation import hostile_loader

LIMITS = ParserLimits(memory=256 * MEGABYTE, seconds=60, output=4 * MEGABYTE)
SOON = 20.0


@dataclass
class Hostile:
    process: ParserProcess

    def act(self, act: str) -> LoadedDocument:
        loader = IsolatedLoader(module=hostile_loader.__name__, config=hostile_loader.Config(), process=self.process)
        return loader.load(source_of(act.encode(), key="folder/the file"))

    def text_of(self, act: str) -> str:
        return self.act(act).blocks[0].text


def hostile(limits: ParserLimits = LIMITS) -> Hostile:
    return Hostile(ParserProcess(limits, [hostile_loader.__name__]))


@pytest.fixture
def parser() -> Iterator[Hostile]:
    parser = hostile()
    yield parser
    parser.process.close()


def test_it_is_reused_also_after_a_refusal_and_by_several_threads_in_turn(parser: Hostile) -> None:
    pids = {json.loads(parser.text_of("tell"))["pid"] for _ in range(3)}
    assert pids == {parser.process.pid}
    with pytest.raises(LoadFailed, match=r"^no text: needs OCR$"):
        parser.act("refuse no text: needs OCR")
    assert parser.text_of("print 1024") == "printed", "what a library prints is discarded"
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(parser.text_of("print 1"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert results == ["printed"] * 4
    assert pids == {parser.process.pid}


def test_a_file_that_takes_too_long_is_named_with_the_setting() -> None:
    hasty = hostile(ParserLimits(memory=256 * MEGABYTE, seconds=1.0, output=MEGABYTE))
    for act in ("hang", "hang-in-native-code", "spin"):
        with pytest.raises(LoadFailed, match=r"'folder/the file' .* more than 1 seconds \(HOPWEAVE_PARSER__SECONDS\)"):
            hasty.act(act)
        assert hasty.process.pid is None


FAILURES = {
    "crash": r"its parser crashed \(SIG(SEGV|BUS)\)",
    "exit 3": r"ended without a reply \(exit code 3\)",
    "eat": r"more than 256 MB of memory \(HOPWEAVE_PARSER__MEMORY_MB\)",
    "return 8": r"its text has more than 4 MB \(HOPWEAVE_PARSER__OUTPUT_MB\)",
    "raise over nothing": r"it is damaged, or not what its name says \(ZeroDivisionError: over nothing\)",
}


def test_a_failure_is_named_and_the_next_file_is_read(parser: Hostile) -> None:
    parser.act("print 0")
    for act, reason in FAILURES.items():
        before = parser.process.pid
        with pytest.raises(LoadFailed, match=f"'folder/the file' cannot be read: .*{reason}"):
            parser.act(act)
        assert parser.text_of("print 0") == "printed"
        assert parser.process.pid != before


def test_memory_that_files_leave_behind_ends_with_the_process(parser: Hostile) -> None:
    pids = [parser.text_of("leak 48") for _ in range(6)]
    assert len(set(pids)) > 1
    assert pids[0] == pids[1]


def test_a_process_parses_so_many_files() -> None:
    parser = hostile(ParserLimits(files=2))
    pids = [json.loads(parser.text_of("tell"))["pid"] for _ in range(4)]
    parser.process.close()
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_prepared_process_runs_before_its_first_file_and_is_confined_as_others_are(parser: Hostile) -> None:
    parser.process.prepare()
    prepared = parser.process.pid
    assert prepared is not None
    confined = parser.process.confined
    assert json.loads(parser.text_of("tell"))["pid"] == prepared
    parser.process.close()
    assert json.loads(parser.text_of("tell"))["pid"] != prepared
    assert parser.process.confined == confined


def test_a_prepared_process_has_its_successor_before_its_last_file() -> None:
    parser = hostile(ParserLimits(files=22))
    parser.process.prepare()
    first = json.loads(parser.text_of("tell"))["pid"]
    assert parser.process._successor is None
    parser.text_of("print 0")
    successor = parser.process._successor
    assert successor is not None
    pids = [json.loads(parser.text_of("tell"))["pid"] for _ in range(21)]
    assert pids == [first] * 20 + [successor.pid]
    parser.process.close()


def test_closing_ends_a_prepared_process_and_its_successor() -> None:
    parser = hostile(ParserLimits(files=2))
    parser.process.prepare()
    parser.text_of("print 0")
    child, successor = parser.process._child, parser.process._successor
    parser.process.close()
    assert child is not None
    assert successor is not None
    assert None not in (child._process.poll(), successor._process.poll())
    assert parser.process.pid is None


def test_after_a_failure_a_prepared_process_is_replaced_at_once(parser: Hostile) -> None:
    parser.process.prepare()
    before = parser.process.pid
    with pytest.raises(LoadFailed):
        parser.act("crash")
    after = parser.process.pid
    assert after not in (None, before)
    assert json.loads(parser.text_of("tell"))["pid"] == after


def test_it_reaches_nothing_of_the_worker(parser: Hostile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "hopweave.toml"
    secret.write_text("secret")
    monkeypatch.setenv("HOPWEAVE_LLM__API_KEY", "secret")
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        told = json.loads(parser.text_of("tell"))
    finally:
        os.close(reading)
        os.close(writing)
    known = {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "TESSDATA_PREFIX", "LC_ALL", "LC_CTYPE", "NUMBA_CACHE_DIR"}
    assert set(told["environment"]) <= {*known, "OPENBLAS_NUM_THREADS"}
    assert told["cwd"] == "/"
    assert len(told["descriptors"]) <= 7, "three that are /dev/null, two for messages, the parent's pipe, and statm"
    assert parser.process.pid != os.getpid()
    assert parser.text_of(f"write {tmp_path / 'made'}") != "done"
    confined = parser.process.confined
    assert sys.platform != "linux" or MEMORY in confined
    if SOCKETS in confined:
        assert (told["socket"], told["unix"]) == ("PermissionError", "PermissionError")
    if FILES in confined:
        assert parser.text_of(f"read {secret}") == "PermissionError"
        assert parser.text_of(f"read {Path(__file__).parents[3] / 'pyproject.toml'}") == "PermissionError"
        assert told["parent"] == "PermissionError"


def test_closing_ends_what_is_being_parsed() -> None:
    parser = hostile()
    errors: list[BaseException] = []

    def parse() -> None:
        try:
            parser.act("hang")
        except Unavailable as error:
            errors.append(error)

    thread = threading.Thread(target=parse)
    thread.start()
    while parser.process.pid is None:
        time.sleep(0.01)
    parser.process.close()
    thread.join(SOON)
    assert len(errors) == 1, "no document fails because a worker stops"
    assert parser.process.pid is None
    assert parser.text_of("print 0") == "printed", "it can be used again"
    parser.process.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processes from /proc")
@pytest.mark.parametrize(("act", "processes"), [("hang-in-native-code", 1), ("start", 2)])
def test_it_ends_with_a_worker_that_is_killed(act: str, processes: int) -> None:
    command = [sys.executable, "-m", "tests.integration.isolation.worker", act]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        group = int(worker.stdout.readline())
        assert _wait(lambda: _count(group) == processes)
        worker.kill()
    assert _wait(lambda: _count(group) == 0)


def _wait(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SOON
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


def _count(group: int) -> int:
    """The number of processes of a group that run."""
    running = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, of, *_ = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            running += of == str(group) and state != "Z"
    return running
