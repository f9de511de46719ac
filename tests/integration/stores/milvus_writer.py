"""Another process that works on a collection: `python -P milvus_writer.py URI CORPUS WHO ACTION`.

It says `ready` once it is connected, waits for a line, acts, and says `done`. Actions: `write` (200 rows that all
write, and 50 of its own, in several batches), `drop` (the corpus), `remake` (drops it and writes vectors of
another dimension).
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from core.ports.views import VectorKind
from stores.milvus import MilvusVectorStore
from tests.contracts.vector_store import batch, names, unit_vectors

OTHER_DIMENSION = 5
CHUNK = VectorKind.CHUNK


@contextmanager
def milvus_writer(uri: str, corpus: str, who: str, action: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that connects; once it is `ready`, `begin` lets it act."""
    command = [sys.executable, "-P", "-m", __name__, uri, corpus, who, action]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def ready(child: "subprocess.Popen[str]") -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"


def begin(child: "subprocess.Popen[str]") -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def done(child: "subprocess.Popen[str]") -> None:
    assert child.stdout is not None
    assert child.stdout.readline() == "done\n"


async def _act(uri: str, corpus: str, who: str, action: str) -> None:
    store = MilvusVectorStore(uri)
    await store.check()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    if action != "write":
        await store.drop(corpus)
    if action == "remake":
        await store.write(corpus, CHUNK, batch(["new"], unit_vectors(1, dimension=OTHER_DIMENSION)))
    if action == "write":
        for _ in range(3):
            await store.write(corpus, CHUNK, batch(names(200), unit_vectors(200)))
        await store.write(corpus, CHUNK, batch(names(50, prefix=who), unit_vectors(50, seed=1)))
    print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(_act(*sys.argv[1:5]))
