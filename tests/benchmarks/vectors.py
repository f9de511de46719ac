"""How long a search over the SQLite vectors takes: `python -m tests.benchmarks.vectors [rows]`."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from core.ids import new_id
from core.ports.views import VectorBatch, VectorKind
from stores.sqlite.vectors import SqliteVectorStore

DIMENSION = 384
SLICE = 10_000


async def measure(rows: int) -> None:
    rng = np.random.default_rng(0)
    corpus = new_id()
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteVectorStore(Path(folder) / "vectors.db")
        began = time.perf_counter()
        for start in range(0, rows, SLICE):
            size = min(SLICE, rows - start)
            vectors = rng.standard_normal((size, DIMENSION), dtype=np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            documents = [f"d{i // 5}" for i in range(start, start + size)]
            ids = [new_id() for _ in range(size)]
            await store.write(corpus, VectorKind.CHUNK, VectorBatch(ids=ids, documents=documents, vectors=vectors))
        print(f"wrote {rows} rows in {time.perf_counter() - began:.2f} s")
        query = vectors[0]
        print(f"first search {await once(store, corpus, query, None):.1f} ms")
        some = [f"d{i}" for i in range(0, rows // 5, 10)]
        for name, wanted in (("all", None), ("a tenth of the documents", some)):
            hold = sorted([await once(store, corpus, query, wanted) for _ in range(101)])
            print(f"search of {name}: p50 {hold[50]:.3f} ms, p95 {hold[95]:.3f} ms")
        await store.close()


async def once(store: SqliteVectorStore, corpus: str, query: np.ndarray, documents: list[str] | None) -> float:
    began = time.perf_counter()
    await store.search(corpus, VectorKind.CHUNK, query, 10, documents)
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
