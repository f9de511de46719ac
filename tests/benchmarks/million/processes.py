"""Memory and processor time of processes, from `/proc`."""

import os
from pathlib import Path

__all__ = ["cpu_seconds", "memory_mb"]

_MEGABYTE = 1_000_000
_NAMES = {"Rss": "resident", "Pss": "shared out", "Private_Dirty": "own, changed", "Private_Clean": "own, as the file"}


def memory_mb(pid: int) -> dict[str, float]:
    """Returns the resident memory; with what is shared with others divided by their number; and what is its own."""
    lines = [line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()[1:]]
    sizes = {name.rstrip(":"): 1024 * int(size) / _MEGABYTE for name, size, *_ in lines}
    return {shown: sizes[name] for name, shown in _NAMES.items()}


def cpu_seconds(pid: int) -> float:
    """Returns the processor time of a process in its own and the system's code."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
