"""A process that writes a vector, then the file of its collection, and kills itself (SIGKILL) at a place in that.

`python -P child_base_writer.py PATH CORPUS ID PLACE`; `PLACE` is a number of bytes of the new file, or `flush`, or
`rename`: when all is written, and when it is also on the disk.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.ports.views import VectorKind
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from testing.contracts.vector_store import batch, unit_vectors

ALWAYS = BasePolicy(exact_rows=0, least_rows=0, share=0, deleted_seconds=-1, poll_seconds=3600)


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _write_until(least_bytes: int) -> Callable[..., int]:
    pwrite, written = os.pwrite, 0

    def write(file: int, part: Any, start: int) -> int:
        nonlocal written
        count = pwrite(file, part[: max(0, least_bytes - written)], start)
        written += count
        if written >= least_bytes:
            _die()
        return count

    return write


async def _run(path: Path, corpus: str, id_: str, place: str) -> None:
    store = SqliteVectorStore(path, policy=ALWAYS)
    await store.write(corpus, VectorKind.CHUNK, batch([id_], unit_vectors(1, dimension=64)))
    match place:
        case "flush":
            os.fsync = _die
        case "rename":
            Path.replace = _die  # type: ignore[assignment,method-assign]
        case _:
            os.pwrite = _write_until(int(place))
    await store.look_at_files()


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1]), *sys.argv[2:]))
