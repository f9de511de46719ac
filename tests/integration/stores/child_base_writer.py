"""A process that writes the file of a collection again and again until it is killed.

`python -P child_base_writer.py PATH CORPUS`; prints a line before each time.
"""

import asyncio
import itertools
import sys
from pathlib import Path

from core.ports.views import VectorKind
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from testing.contracts.vector_store import batch, unit_vectors

ALWAYS = BasePolicy(exact_rows=0, least_rows=0, share=0, deleted_seconds=-1, poll_seconds=3600)


async def write(path: Path, corpus: str) -> None:
    store = SqliteVectorStore(path, policy=ALWAYS)
    for number in itertools.count():
        await store.write(corpus, VectorKind.CHUNK, batch([f"n{number:06}"], unit_vectors(1, number, 64)))
        print(number, flush=True)
        await store.look_at_files()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2]))
