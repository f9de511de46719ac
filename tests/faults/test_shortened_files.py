"""Files that are mapped while another program makes them shorter: the search is repeated, and the process lives."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.commands import PATIENCE_SECONDS

_CHILD = Path(__file__).with_name("shortened_files.py")


@pytest.mark.parametrize("change", ["empty", "half", "touch"])
@pytest.mark.parametrize("files", ["vectors", "graph"])
def test_a_mapped_file_that_becomes_shorter_is_built_again(tmp_path: Path, files: str, change: str) -> None:
    """Without a check before each search, the operating system ends the process (SIGBUS)."""
    command = [sys.executable, "-P", _CHILD, files, tmp_path, change]
    searched = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert (searched.returncode, searched.stdout) == (0, "True\n"), searched.stderr
    assert ("built again" in searched.stderr) == (change != "touch")


def test_a_process_that_a_fault_ends_tells_where_it_was() -> None:
    """A file that becomes shorter while it is read still ends its process."""
    program = "import os; from app.telemetry.logs import configure_logs; from core.settings import Settings; "
    program += f"configure_logs(Settings().log); os.kill(os.getpid(), {int(signal.SIGBUS)})"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGBUS
    assert "Bus error" in ended.stderr
