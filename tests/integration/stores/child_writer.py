"""A process that writes batches until it is killed, and says after each that it was acknowledged.

`python -P child_writer.py vectors|text PATH CORPUS FIRST`; batch `n` is the entries `n-0` … `n-19`, in document `dn`.
"""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from core.ports.views import TextEntry, VectorBatch, VectorKind
from stores.sqlite.vectors import SqliteVectorStore
from stores.tantivy import TantivyTextIndex

BATCH = 20
DIMENSION = 16


def ids_of(number: int) -> list[str]:
    return [f"{number}-{i}" for i in range(BATCH)]


def vectors_of(number: int) -> np.ndarray:
    vectors = np.random.default_rng(number).standard_normal((BATCH, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Child:
    """The writing process, seen from the test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def acknowledged(self) -> int:
        """Waits for the next batch that was acknowledged."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def kill(self) -> list[int]:
        """Kill it with SIGKILL; returns the batches that were acknowledged and not yet asked for."""
        os.kill(self._process.pid, signal.SIGKILL)
        assert self._process.stdout is not None
        rest = self._process.stdout.read()
        self._process.wait()
        return [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]


@contextmanager
def child_writer(what: str, path: Path, corpus: str, first: int = 0) -> Iterator[Child]:
    command = [sys.executable, "-P", __file__, what, str(path), corpus, str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Child(process)
        finally:
            process.kill()


async def _write(what: str, path: Path, corpus: str, first: int) -> None:
    vectors, index = SqliteVectorStore(path), TantivyTextIndex(path)
    for number in itertools.count(first):
        ids = ids_of(number)
        if what == "vectors":
            batch = VectorBatch(ids=ids, documents=[f"d{number}"] * BATCH, vectors=vectors_of(number))
            await vectors.write(corpus, VectorKind.CHUNK, batch)
        else:
            await index.write(
                corpus, [TextEntry(id=id, document_id=f"d{number}", text=f"word b{number}") for id in ids]
            )
        print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(_write(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
