"""Vectors in SQLite, searched: time, recall, memory of two processes, and following, by the number of rows.

`python -m tests.benchmarks.vectors [ROWS]...` measures and prints a report. `… vectors --hold FOLDER` is a process that
searches, prints what it measured, and waits for the end of its input.
"""

import argparse
import asyncio
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from core.ports.embedding import Vectors
from core.ports.views import VectorBatch, VectorKind
from stores.sqlite.vectors import SqliteVectorStore
from stores.sqlite.vectors.mapped import signs
from tests.benchmarks.check import Check, at_least, at_most, figure, markdown

__all__ = ["checks", "measure"]

_SIZES = (10_000, 200_000, 1_000_000)
_CORPUS = "be9c" * 8
_CHUNK = VectorKind.CHUNK
_DIMENSION = 384
_SUBJECTS = 6_000
_SLICE = 10_000
_QUERIES = 60
_CHANGED = 100
_ROUNDS = 15
_SEED = 7
_MEGABYTE = 1_000_000


def measure(sizes: Sequence[int] = _SIZES) -> dict[str, Any]:
    """Each size in a folder of its own. Two processes search at the same time, of which one is measured."""
    return {str(rows): _measure(rows) for rows in sizes}


def checks(report: Mapping[str, Any]) -> list[Check]:
    found = []
    for rows, of in report.items():
        what, two = f"{int(rows):,} vectors", of["two_pss_mb"] / of["pss_mb"]
        found += [
            figure(f"{what}: ms of the processor for the 10 nearest, p50", of["search_ms"]["10"]),
            figure(f"{what}: ms of the processor for the 200 nearest, p50", of["search_ms"]["200"]),
            figure(f"{what}: ms of the processor to compare all, p50", of["exact_ms"]),
            at_least(f"{what}: recall@10", of["recall"], 0.99),
            at_most(f"{what}: s of the processor for the first search after a start", of["first_seconds"], 1),
            figure(f"{what}: MB of a process beyond mapped files", of["own_mb"]),
            Check(
                name=f"{what}: memory of two processes (PSS), of that of one",
                value=two,
                bound="≤",
                target=1.3 if of["file_mb"] else None,
            ),
            figure(f"{what}: ms of the processor to follow 100 rows", of["follow_ms"]),
        ]
    if {"10000", "1000000"} <= report.keys():
        ratio = report["1000000"]["follow_ms"] / report["10000"]["follow_ms"]
        found.append(at_most("following 100 rows at 1,000,000, of that at 10,000", ratio, 1.3))
        took = report["1000000"]["search_ms"]["200"]
        found.append(at_most("1,000,000 vectors: ms of the processor for the 200 nearest", took, 15))
    return found


def _measure(rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hopweave-vectors-") as name:
        folder = Path(name)
        asyncio.run(_write(folder, rows))
        with _process(folder) as (first, measure_memory):
            alone = measure_memory()
            with _process(folder) as (second, measure_second):
                two = measure_memory()["pss_mb"] + measure_second()["pss_mb"]
        report = asyncio.run(_follow(folder, rows))
        files = sum(file.stat().st_size for file in folder.rglob("*.base")) / _MEGABYTE
    return {**first, **alone, "second": second, "two_pss_mb": two, "file_mb": files, **report}


def _subjects() -> Vectors:
    return _unit(np.random.default_rng(_SEED).standard_normal((_SUBJECTS, _DIMENSION), dtype=np.float32) + 0.3)


def _draw(rng: np.random.Generator, subjects: Vectors, count: int) -> Vectors:
    """Returns vectors of texts about three subjects each, with a share of noise, as the embeddings of passages are."""
    weights = rng.uniform([1.0, 0.3, 0.1], [1.0, 0.8, 0.5], (count, 3)).astype(np.float32)
    chosen = subjects[rng.integers(0, len(subjects), (count, 3))]
    noise = rng.standard_normal((count, _DIMENSION), dtype=np.float32) * 0.02
    return _unit(np.einsum("ij,ijk->ik", weights, chosen) + noise)


def _unit(vectors: Vectors) -> Vectors:
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def _id(kind: str, number: int) -> str:
    return hashlib.sha256(f"{kind}{number}".encode()).hexdigest()[:32]


def _batch(vectors: Vectors, start: int) -> VectorBatch:
    numbers = range(start, start + len(vectors))
    return VectorBatch(
        ids=[_id("chunk", n) for n in numbers], documents=[_id("document", n // 5) for n in numbers], vectors=vectors
    )


async def _write(folder: Path, rows: int) -> None:
    rng, subjects = np.random.default_rng(_SEED + 1), _subjects()
    store = SqliteVectorStore(folder / "vectors.db")
    for start in range(0, rows, _SLICE):
        await store.write(_CORPUS, _CHUNK, _batch(_draw(rng, subjects, min(_SLICE, rows - start)), start))
    await store.close()  # and its thread, which may be writing the file of some of the rows
    store = SqliteVectorStore(folder / "vectors.db")
    await store.look_at_files()  # writes the file, if that is due
    await store.close()


@contextmanager
def _process(folder: Path) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, float]]]]:
    """A process that has searched: what it measured, and a function that measures its memory."""
    command = [sys.executable, "-m", "tests.benchmarks.vectors", "--hold", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        to, answers = process.stdin, process.stdout
        assert to is not None
        assert answers is not None

        def measure_memory() -> dict[str, float]:
            to.write("memory\n")
            to.flush()
            report: dict[str, float] = json.loads(answers.readline())
            return report

        yield json.loads(answers.readline()), measure_memory
        to.close()
    if process.returncode:
        raise RuntimeError(f"the process that searches ended with {process.returncode}")


async def _hold(folder: Path) -> None:
    store, queries = SqliteVectorStore(folder / "vectors.db"), _queries()
    before, began = _memory(), time.process_time()
    await store.search(_CORPUS, _CHUNK, queries[0], 10)
    first_seconds = time.process_time() - began
    signs.warm()  # a server does so itself, some seconds after its first searches
    search_ms = {str(k): await _time_searches(store, queries, k) for k in (10, 200)}
    print(json.dumps({"first_seconds": first_seconds, "search_ms": search_ms}), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        now = _memory()
        report = {"pss_mb": now["Pss"] - before["Pss"], "own_mb": now["Anonymous"] - before["Anonymous"]}
        print(json.dumps(report), flush=True)
    await store.close()


def _queries() -> Vectors:
    return _draw(np.random.default_rng(_SEED + 2), _subjects(), _QUERIES)


async def _time_searches(store: SqliteVectorStore, queries: Vectors, k: int) -> float:
    times = []
    for query in queries:
        began = time.process_time()
        await store.search(_CORPUS, _CHUNK, query, k)
        times.append(time.process_time() - began)
    return 1000 * statistics.median(times)


async def _follow(folder: Path, rows: int) -> dict[str, Any]:
    """Searches after changes of a hundred rows by another store, apart from what a search takes anyhow."""
    (store, writer), queries = (SqliteVectorStore(folder / "vectors.db") for _ in range(2)), _queries()
    exact_ms, recall = await _compare(store, rows, queries)
    rng, subjects, times = np.random.default_rng(_SEED + 3), _subjects(), []
    await store.search(_CORPUS, _CHUNK, queries[0], 10)
    for round_ in range(_ROUNDS):
        start = rows + _CHANGED * round_
        await writer.write(_CORPUS, _CHUNK, _batch(_draw(rng, subjects, _CHANGED), start))
        await writer.delete(_CORPUS, _CHUNK, [_id("chunk", start - _CHANGED + n) for n in range(_CHANGED)])
        began = time.process_time()
        await store.search(_CORPUS, _CHUNK, queries[0], 10)
        followed = time.process_time()
        await store.search(_CORPUS, _CHUNK, queries[0], 10)
        times.append(2 * followed - began - time.process_time())
    await store.close()
    await writer.close()
    return {"exact_ms": exact_ms, "recall": recall, "follow_ms": 1000 * statistics.median(times)}


async def _compare(store: SqliteVectorStore, rows: int, queries: Vectors) -> tuple[float, float]:
    """Returns how long it takes to compare a query with all rows, and the share of the ten nearest that are found."""
    matrix = await asyncio.to_thread(_read_matrix, rows)
    times, found = [], 0
    for query in queries:
        began = time.process_time()
        scores = matrix @ query
        nearest = np.argpartition(scores, rows - 10)[rows - 10 :]
        times.append(time.process_time() - began)
        hits = {hit.id for hit in await store.search(_CORPUS, _CHUNK, query, 10)}
        found += len(hits & {_id("chunk", int(n)) for n in nearest})
    return 1000 * statistics.median(times), found / (10 * len(queries))


def _read_matrix(rows: int) -> Vectors:
    rng, subjects = np.random.default_rng(_SEED + 1), _subjects()
    matrix = np.empty((rows, _DIMENSION), dtype=np.float32)
    for start in range(0, rows, _SLICE):
        part = matrix[start : start + _SLICE]
        part[:] = _draw(rng, subjects, len(part))
    return matrix


def _memory() -> dict[str, float]:
    """MB of this process: with its share of what it shares with others (Pss), and without mapped files (Anonymous)."""
    lines = [line.split() for line in Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines()[1:]]
    return {name.rstrip(":"): 1024 * int(size) / _MEGABYTE for name, size, *_ in lines}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.vectors")
    parser.add_argument("rows", type=int, nargs="*", default=_SIZES)
    parser.add_argument("--hold", type=Path)
    arguments = parser.parse_args()
    if arguments.hold is not None:
        asyncio.run(_hold(arguments.hold))
    else:
        report = measure(arguments.rows)
        print(json.dumps(report, indent=2))
        print(markdown(checks(report)))


if __name__ == "__main__":
    main()
