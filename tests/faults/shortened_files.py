"""A process that searches over mapped files, changes each of them in place, and searches again.

`python -P shortened_files.py vectors|graph FOLDER CHANGE` prints whether both searches found the same. `CHANGE` is
`empty`, `half`, or `touch`: the file is as before, and only looks changed.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import retrieval
from core.ids import new_id
from core.ports.views import VectorKind
from core.trace import Trace
from retrieval.graph.snapshot_format import is_mapped
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from testing.contracts.searcher import PASSAGES, QUESTION
from testing.contracts.vector_store import batch, names, unit_vectors
from testing.indexed_corpus import Passage
from tests.searching import open_world

_FILE_AT_ONCE = BasePolicy(exact_rows=0, least_rows=0, share=0, deleted_seconds=-1, poll_seconds=3600)
_CHANGES: dict[str, Callable[[Path], None]] = {
    "empty": lambda path: os.truncate(path, 0),
    "half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "touch": lambda path: os.utime(path, (1, 1)),
}


async def _search_vectors(folder: Path, change: str) -> bool:
    store, corpus, query = SqliteVectorStore(folder / "vectors.db", policy=_FILE_AT_ONCE), new_id(), unit_vectors(1)
    await store.write(corpus, VectorKind.CHUNK, batch(names(3_000), unit_vectors(3_000)))

    async def search() -> tuple[object, object]:
        found = await store.search(corpus, VectorKind.CHUNK, query[0], 10)
        return found, await store.within(corpus, VectorKind.CHUNK, query, 0.3)

    before = await search()
    [file] = (folder / "vectors").glob("*.base")
    _CHANGES[change](file)
    after = await search()
    _CHANGES[change](file)  # the file that was built again
    await store.look_at_files()
    is_same = [before, before] == [after, await search()]
    await store.close()
    return is_same


async def _search_graph(folder: Path, change: str) -> bool:
    retrieval.warm()  # compiled code reads the arrays, too
    more = [
        Passage(key=f"more {n}", title=f"Place {n}", text=f"Guest{n % 7} met Ada in Place {n}.") for n in range(400)
    ]
    async with open_world(folder, mapped=True) as world:
        await world.put([*PASSAGES, *more])
        cache = world.backends.snapshots
        while not is_mapped((await cache.get(world.corpus.id)).whole.adjacency.degree):  # noqa: ASYNC110 - the file is written in the background
            await asyncio.sleep(0.01)
        searchers = [world.searcher(name) for name in ("bridged", "graph", "sparse")]

        async def search() -> list[object]:
            return [await searcher.search(world.query(QUESTION, k=10), Trace()) for searcher in searchers]

        before = await search()
        [file] = (folder / "snapshots").glob("*.graph")
        _CHANGES[change](file)
        after = await search()
        await world.put([Passage(key="later", title="Later", text="Nobody came.")])  # is laid over the file
        await search()
        [file] = (folder / "snapshots").glob("*.graph")
        _CHANGES[change](file)
        await search()
        await cache.close()
        return before == after


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    _search = {"vectors": _search_vectors, "graph": _search_graph}[sys.argv[1]]
    print(asyncio.run(_search(Path(sys.argv[2]), sys.argv[3])))
