"""Another process that works on collections, as told by lines on its input: `URI CORPUS WHO ACTION`.

To each it says `ready` once it is connected, waits for another line, acts, and says `done`. Actions: `write` (200 rows
that all write, and 50 of its own, in several batches), `drop` (the corpus), `remake` (drops it and writes vectors of
another dimension). What it did before it has forgotten.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from core.ports.views import VectorKind
from stores.milvus import MilvusVectorStore
from testing.contracts.vector_store import batch, names, unit_vectors

OTHER_DIMENSION = 5
CHUNK = VectorKind.CHUNK


class MilvusWriter:
    """Such a process, as a test sees it; loading the client takes it seconds, so that tests share it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    async def connect(self, uri: str, corpus: str, who: str, action: str) -> None:
        self._tell(f"{uri} {corpus} {who} {action}")
        await self._said("ready")

    def begin(self) -> None:
        self._tell("go")

    async def done(self) -> None:
        await self._said("done")

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    async def _said(self, line: str) -> None:
        assert self._process.stdout is not None
        assert await asyncio.to_thread(self._process.stdout.readline) == f"{line}\n"


@contextmanager
def milvus_writer() -> Iterator[MilvusWriter]:
    command = [sys.executable, "-P", "-m", __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield MilvusWriter(process)
        finally:
            process.kill()


async def _act(uri: str, corpus: str, who: str, action: str) -> None:
    store = MilvusVectorStore(uri)
    await store.check()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    if action != "write":
        await store.delete_corpus(corpus)
    if action == "remake":
        await store.write(corpus, CHUNK, batch(["new"], unit_vectors(1, dimension=OTHER_DIMENSION)))
    if action == "write":
        for _ in range(3):
            await store.write(corpus, CHUNK, batch(names(200), unit_vectors(200)))
        await store.write(corpus, CHUNK, batch(names(50, prefix=who), unit_vectors(50, seed=1)))
    await store.close()
    print("done", flush=True)


def main() -> None:
    while line := sys.stdin.readline():
        asyncio.run(_act(*line.split()))


if __name__ == "__main__":
    main()
