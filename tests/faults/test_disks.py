"""A disk that is full and one that is read-only: one clear message, nothing lost, and the same command goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import InvalidSettings
from core.settings import read_settings
from tests.faults.commands import Commands, commands
from tests.faults.disks import Disk, mounted

DOCUMENTS = 120


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with mounted(tmp_path / "disk", 16) as disk:
        yield disk


@pytest.fixture
def hopweave(disk: Disk, tmp_path: Path) -> Iterator[Commands]:
    more = {"HOPWEAVE_WORKER__RETRY_MINUTES": "0", "HOPWEAVE_WORKER__SWEEP_SECONDS": "1"}
    with commands(disk.folder / "data", tmp_path, more) as run:
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
