"""A process that is killed while it writes a file leaves a draft; the next file that is written there deletes it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.commands import commands

_WRITER = """
import sys
from pathlib import Path
from core.execution.files import Draft
with Draft(Path(sys.argv[1])) as draft:
    draft.file.write(b"half")
    draft.file.flush()
    print(draft._draft.name, flush=True)
    sys.stdin.read()
"""


def _start_writing(path: Path) -> tuple["subprocess.Popen[str]", str]:
    """Returns a process that does not end, and the name of its draft."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.slow
def test_the_next_backup_or_export_deletes_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada Lovelace wrote the first program.")
    kept = tmp_path / "kept"
    kept.mkdir()
    running, held = _start_writing(kept / "running.gz")
    try:
        with commands(tmp_path / "data", tmp_path) as hopweave:
            assert hopweave("ingest", "a.txt", "-c", "c").returncode == 0
            for command in (["backup"], ["export", "c", "--format", "csv", "-o"]):
                killed, left = _start_writing(kept / "killed.gz")
                killed.kill()
                killed.communicate()
                assert (kept / left).exists()
                done = hopweave(*command, kept / "next")
                assert done.returncode == 0, done.stderr
                assert sorted(path.name for path in kept.iterdir()) == [held, "next"]
    finally:
        running.communicate()
