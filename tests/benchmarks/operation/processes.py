"""Processor time and memory of other processes, as Linux counts them."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "cpu_seconds", "list_tree", "memory_mb", "run_counted"]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """`output` is what the command printed; `peak_mb` is its highest resident memory."""

    cpu_seconds: float
    peak_mb: float
    output: str


def run_counted(command: Sequence[str | Path], environment: Mapping[str, str]) -> Cost:
    """Runs a command to its end. Raises `RuntimeError` if it fails."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return Cost(cpu_seconds=used.ru_utime + used.ru_stime, peak_mb=used.ru_maxrss / 1024, output=output)


def list_tree(root: int) -> list[int]:
    """Returns a process and all that it has started, directly or not."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """Returns what a process has used since its start."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Returns the resident memory that a process has now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _stat(pid: int) -> list[str]:
    """Returns the fields after the name, which may contain spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
