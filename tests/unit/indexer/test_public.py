"""The package's surface."""

import subprocess
import sys

import indexer


def test_what_is_public_is_there() -> None:
    assert len(set(indexer.__all__)) == len(indexer.__all__)
    assert all(hasattr(indexer, name) for name in indexer.__all__)


def test_importing_loads_nothing_heavy() -> None:
    program = "import sys, indexer; print(*(m for m in sys.modules if m in {'sentencex', 'markdown_it', 'torch'}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
