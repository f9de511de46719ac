"""How long it takes, and how much memory, to read a folder of 100,000 tiny files."""

import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from core.documents import Submission
from indexer import read_paths
from tests.benchmarks.check import Check, at_most, figure

__all__ = ["checks", "measure", "write_tiny_files"]

_FILES = 100_000
_OF_A_FOLDER = 1_000


def measure(files: int = _FILES) -> dict[str, Any]:
    """Reads everything twice: once for the time, once with Python's memory traced."""
    with tempfile.TemporaryDirectory() as name:
        write_tiny_files(Path(name), files)
        began = time.perf_counter()
        found = _read(Path(name))
        seconds = time.perf_counter() - began
        tracemalloc.start()
        _read(Path(name))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return {"files": found, "lost": files - found, "seconds": seconds, "peak_mb": peak / 1e6}


def checks(report: dict[str, Any]) -> list[Check]:
    return [
        at_most("tiny files: not found", report["lost"], 0),
        figure("tiny files: s to read 100,000", report["seconds"]),
        at_most("tiny files: peak memory of reading, MB", report["peak_mb"], 100),
    ]


def write_tiny_files(folder: Path, count: int) -> None:
    for number in range(count):
        if number % _OF_A_FOLDER == 0:
            (folder / f"{number // _OF_A_FOLDER:03d}").mkdir()
        path = folder / f"{number // _OF_A_FOLDER:03d}" / f"{number}.txt"
        path.write_text(f"Note {number}.", encoding="utf-8")


def _read(folder: Path) -> int:
    return sum(isinstance(one, Submission) for one in read_paths([folder], with_given=False))
