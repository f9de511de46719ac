"""How many threads numpy multiplies with in processes of Hopweave."""

import asyncio
import multiprocessing
import multiprocessing.queues
import os
import subprocess
from pathlib import Path

import pytest

from core.execution.processes import python_command
from core.execution.threads import compute


@pytest.mark.parametrize(("given", "seen"), [(None, "1"), ("2", "2")])
def test_numpy_multiplies_on_one_core_unless_told_otherwise(given: str | None, seen: str, tmp_path: Path) -> None:
    (tmp_path / "printing.py").write_text("import os; print(os.environ['OPENBLAS_NUM_THREADS'])", "utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {"PYTHONPATH": str(tmp_path)} | ({} if given is None else {"OPENBLAS_NUM_THREADS": given})
    command = python_command("printing")
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip() == seen


def _compute_in_child(sums: "multiprocessing.queues.Queue[int]") -> None:
    sums.put(asyncio.run(compute(sum, [1, 2])))


def test_a_forked_process_computes_in_threads_of_its_own() -> None:
    asyncio.run(compute(int))
    fork = multiprocessing.get_context("fork")
    sums: multiprocessing.queues.Queue[int] = fork.Queue()
    child = fork.Process(target=_compute_in_child, args=(sums,))
    child.start()
    assert sums.get(timeout=60) == 3
    child.join()
