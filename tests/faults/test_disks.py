"""A disk that is full and one that is read-only: one clear message, nothing lost, and the same command goes on."""

import json
import random
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InvalidInput, InvalidSettings
from core.settings import read_settings
from evaluation import Noise, add_noise, import_dataset
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS, Commands, commands, environment, run
from tests.faults.disks import Disk, mounted
from tests.openie import openie
from tests.twins.chat_server import ChatServer
from tests.waiting import wait_until

DOCUMENTS = 120


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with mounted(tmp_path / "disk", 16) as disk:
        yield disk


@pytest.fixture
def hopweave(disk: Disk, tmp_path: Path) -> Iterator[Commands]:
    with commands(disk.folder / "data", tmp_path, WORKER__RETRY_MINUTES=0, WORKER__SWEEP_SECONDS=1) as run:
        yield run


def write(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for n in range(count):
        text = f"Visitor Number{n} came to Paris with Guest{n % 7}. " * 20
        (folder / f"{n}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_full_disk_is_named_and_nothing_is_lost(disk: Disk, hopweave: Commands, tmp_path: Path) -> None:
    first = write(tmp_path / "first", 2)
    assert hopweave("ingest", first, "-c", "c").returncode == 0
    disk.fill(leave=200_000)
    papers = write(tmp_path / "papers", DOCUMENTS)
    refused = hopweave("ingest", papers, "-c", "c")
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    [message] = [line for line in refused.stderr.splitlines() if line.startswith("hopweave: ")]
    assert "disk" in message or "free space" in message
    disk.free()
    assert hopweave("ingest", papers, "-c", "c").returncode == 0
    alone = tmp_path / "alone"
    with commands(alone / "data", tmp_path) as other:
        assert other("ingest", papers, "-c", "c").returncode == 0
        expected = other("export", "c", "--format", "jsonl", "--canonical").stdout
    assert hopweave("export", "c", "--format", "jsonl", "--canonical").stdout == expected
    assert hopweave("doctor").returncode == 0


@pytest.mark.slow
def test_a_job_says_that_the_disk_is_full_and_goes_on_when_it_is_not(disk: Disk, tmp_path: Path) -> None:
    """The line of progress told that some seconds were left, for as long as the disk was full."""
    papers, may_answer, dice = tmp_path / "papers", threading.Event(), random.Random(1)
    papers.mkdir()
    for n in range(10):
        text = "".join(f"Visitor Number{n} met Guest{i} with {dice.getrandbits(999):x}. " for i in range(80))
        (papers / f"{n}.txt").write_text(text)
    with (
        ChatServer(respond=lambda call: replace(openie(call), until=may_answer.is_set)) as model,
        embedding_endpoint(dimension=16),
    ):
        data = disk.folder / "data"
        llm = {"LLM__BASE_URL": model.url, "LLM__MODEL": "m", "LLM__CACHE": "false"}
        ours = environment(data, WORKER__LEASE_SECONDS=20, **llm)
        command = [HOPWEAVE, "ingest", papers, "-c", "c", "--extractor", "llm", "-v"]
        shown = tmp_path / "shown"
        with shown.open("wb") as errors:
            ingest = subprocess.Popen(command, env=ours, cwd=tmp_path, stderr=errors, stdout=subprocess.PIPE)
        try:
            wait_until(lambda: model.in_flight > 0)
            disk.fill()
            may_answer.set()
            wait_until(lambda: "full" in shown.read_text())
            wait_until(lambda: ", waiting\n" in shown.read_text())
            doctor = run(data, tmp_path, "doctor", **llm)
            assert ingest.poll() is None
            disk.free()
            output, _ = ingest.communicate(timeout=PATIENCE_SECONDS)
        finally:
            ingest.kill()
            ingest.wait()
    assert (ingest.returncode, b"10 indexed" in output) == (0, True), (output, shown.read_text())
    assert "Traceback" not in shown.read_text()
    assert "Traceback" not in doctor.stdout + doctor.stderr


@pytest.mark.slow
def test_a_read_only_folder_is_named_by_each_command(disk: Disk, hopweave: Commands, tmp_path: Path) -> None:
    papers = write(tmp_path / "papers", 2)
    assert hopweave("ingest", papers, "-c", "c").returncode == 0
    write(papers, 3)
    disk.make_read_only()
    for command in (["ingest", papers, "-c", "c"], ["search", "Paris", "-c", "c"], ["serve", "--port", "1024"]):
        ran = hopweave(*command)
        assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1), ran.stderr
        assert str(disk.folder) in ran.stderr or "read-only" in ran.stderr
    disk.make_writable()
    again = hopweave("ingest", papers, "-c", "c")
    assert (again.returncode, "1 indexed, 2 unchanged" in again.stdout) == (0, True), again.stdout


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidSettings, match=r"HOPWEAVE_DATA_DIR: .*file' is a file; name a folder"):
        read_settings(data_dir=tmp_path / "file" / "data")


@pytest.mark.parametrize("leave", [0, 8192, 24_000])
def test_question_sets_are_written_whole_or_not_at_all(disk: Disk, tmp_path: Path, leave: int) -> None:
    """The disk is full at once, in the middle of the passages, and before the questions."""
    found = [{"title": "T", "text": "many words " * 30}]
    rows = [{"question": f"Who is {n}?" * 9, "answers": ["A"], "ctxs": [*found, {"text": f"{n}"}]} for n in range(200)]
    (tmp_path / "published.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    import_dataset("selfrag", [tmp_path / "published.jsonl"], tmp_path / "set")
    disk.fill(leave=leave)
    with pytest.raises(InvalidInput, match=r"-o .* cannot be written: No space left on device; name another folder"):
        import_dataset("selfrag", [tmp_path / "published.jsonl"], disk.folder / "set")
    with pytest.raises(InvalidInput, match=r"-o .* cannot be written: No space left on device; name another file"):
        add_noise(tmp_path / "set", disk.folder / "noisy.jsonl", Noise(chatter=1))
    assert [file.name for file in disk.folder.iterdir()] == ["filler"]
