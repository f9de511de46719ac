"""Searches in a process of its own, as one that answers has it: one process alone, and two at the same time."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.corpora import Corpus
from tests.benchmarks.million.processes import memory_mb

__all__ = ["measure_first_search", "measure_searches"]

_PROCESS = "tests.benchmarks.million.search_process"


def measure_searches(folder: Path, corpus: Corpus, passages: int) -> dict[str, Any]:
    """One process alone, and then two at the same time."""
    with _process(folder, corpus, passages) as alone:
        pass
    with _process(folder, corpus, passages) as first, _process(folder, corpus, passages) as second:
        both = [memory_mb(one["pid"])["shared out"] for one in (first, second)]
    return {"alone": alone, "two_mb": both, "two_ratio": sum(both) / alone["memory_mb"]["shared out"]}


def measure_first_search(folder: Path, corpus: Corpus, passages: int) -> dict[str, float]:
    """Returns the seconds of the first search of a process, which writes the snapshot file when it ends."""
    with _process(folder, corpus, passages) as alone:
        seconds: dict[str, float] = alone["first_seconds"]
    return seconds


@contextmanager
def _process(folder: Path, corpus: Corpus, passages: int) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", _PROCESS, str(folder), corpus.name, str(passages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        if line:
            yield json.loads(line)
        process.stdin.close()
    if process.returncode or not line:
        raise RuntimeError(f"the process that searches ended with {process.returncode}")
