"""What snapshots cost as the corpus grows: opening, following a change of 100 documents, compaction, and a search's
graph part.

`python -m tests.benchmarks.operation.growth FOLDER` opens the file there as a new process does, prints a report,
and waits for the end of its input; with `compact` it lays changes over the file and replaces it. Synthetic: two names
and eight mentions a passage, mentions by Zipf's law.
"""

import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ids import entity_id
from core.ports.record.graph import GraphChanges, GraphChunk, graph_rows
from core.text.terms import TERM
from retrieval.graph.arrays import Ids
from retrieval.graph.columns import Columns, canonicalise
from retrieval.graph.compaction import encode_compacted
from retrieval.graph.layered import LayeredSnapshot, follow
from retrieval.graph.names import pack_names
from retrieval.graph.snapshot import FlatSnapshot, GraphSnapshot, make_snapshot
from retrieval.graph.snapshot_folder import SnapshotFolder
from retrieval.graph.snapshot_format import decode_snapshot, encode_snapshot
from retrieval.graph.terms import ChunkTerms, make_offsets
from retrieval.pagerank.forward_push import warm
from retrieval.pagerank.personalized import PageRankConfig, rank_from_question
from tests.benchmarks.check import Check, at_most, figure

__all__ = ["checks", "measure"]

SIZES = (10_000, 200_000, 1_000_000)
_CORPUS = "0123456789abcdef"
_NAMES, _MENTIONS, _TERMS, _CHUNKS_OF_DOCUMENT = 2, 8, 40, 10
_DOCUMENTS, _QUESTIONS, _SEED = 100, 60, 11
_MEGABYTE = 1_000_000
_WATCH_SECONDS = 0.05


def measure(sizes: Sequence[int] = SIZES) -> list[dict[str, Any]]:
    """Each size in processes of their own: one builds and writes the file, two map it at the same time."""
    reports = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="hopweave-growth-") as name:
            built = _run(Path(name), str(size))
            with _opened(Path(name)) as (first, report):
                alone = _memory(first)["file_mb"] + _memory(first)["own_mb"]
                with _opened(Path(name)) as (second, _):
                    both = [_memory(process) for process in (first, second)]
            compacted = _run(Path(name), "compact")
            together = sum(one["file_mb"] + one["own_mb"] for one in both)
            reports.append(
                {"passages": size, **built, "alone_mb": alone, "together_mb": together, **report, **compacted}
            )
    return reports


def checks(reports: Sequence[dict[str, Any]]) -> list[Check]:
    least, most = reports[0], reports[-1]
    what = f"snapshot of {most['passages']:,} passages"
    ratio = most["follow_cpu_ms"] / least["follow_cpu_ms"]
    return [
        at_most(f"{what}: s to open its file and rank by the graph once", most["first_seconds"], 1),
        at_most(f"{what}: 100 documents changed, processor time of that at {least['passages']:,}", ratio, 1.3),
        figure(f"{what}: MB of one process, with its share of the file", most["alone_mb"]),
        figure(f"{what}: MB of two processes together", most["together_mb"]),
        at_most(f"{what}: ms of a search's graph part, the median", most["rank_ms"], 25),
        figure(f"{what}: ms of the processor for the changes", most["follow_cpu_ms"]),
        at_most(f"{what}: MB of its own memory that compaction takes", most["compact_own_mb"], 1_000),
        figure(f"{what}: s of the processor for compaction", most["compact_cpu_seconds"]),
        figure(f"{what}: MB of its own memory after opening and {_QUESTIONS} questions", most["own_mb"]),
    ]


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """A process that holds the snapshot within the block: its number, and what it has measured."""
    command = [sys.executable, "-m", "tests.benchmarks.operation.growth", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.pid, json.loads(process.stdout.readline())
        process.stdin.close()


def _run(folder: Path, size: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.operation.growth", str(folder), size]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


def _hold(folder: Path) -> None:
    """Opens, searches and follows, tells of it, and keeps the snapshot."""
    warm()
    before = _memory("self")
    began, worked = time.perf_counter(), time.process_time()
    snapshot = _open(folder)
    report: dict[str, Any] = {"open_ms": 1e3 * (time.perf_counter() - began)}
    first, *questions = _questions(snapshot)
    _rank(snapshot, first)
    report |= {"first_seconds": time.perf_counter() - began, "first_cpu_seconds": time.process_time() - worked}
    report["rank_ms"] = _median_ms([partial(_rank, snapshot, question) for question in questions])
    report |= {name: size - before[name] for name, size in _memory("self").items()}
    changes = _changes(snapshot)
    report["follow_cpu_ms"] = _median_ms([partial(follow, snapshot, changes)] * 5, time.process_time)
    later = follow(snapshot, changes)
    report["follow_again_cpu_ms"] = _median_ms([partial(follow, later, changes)] * 5, time.process_time)
    report["rank_later_ms"] = _median_ms([partial(_rank, later, question) for question in questions])
    print(json.dumps(report), flush=True)
    sys.stdin.read()


def _open(folder: Path) -> FlatSnapshot:
    content = SnapshotFolder(folder).read(_CORPUS)
    assert content is not None
    return decode_snapshot(content)


def _rank(snapshot: GraphSnapshot, question: str) -> None:
    rank_from_question(snapshot, question, PageRankConfig())


def _median_ms(calls: Sequence[Callable[[], object]], clock: Callable[[], float] = time.perf_counter) -> float:
    took = []
    for call in calls:
        began = clock()
        call()
        took.append(clock() - began)
    return 1e3 * median(took)


def _questions(snapshot: FlatSnapshot) -> list[str]:
    """Each names a popular entity and two others."""
    rng = np.random.default_rng(_SEED)
    count = len(snapshot.columns.names)
    others = rng.integers(0, count, (_QUESTIONS, 2)).tolist()
    popular = np.argpartition(np.asarray(snapshot.whole.df), count - 50)[-50:]
    return [
        f"How does {_shown(snapshot, int(popular[n % 50]))} know {_shown(snapshot, a)} and {_shown(snapshot, b)}?"
        for n, (a, b) in enumerate(others)
    ]


def _shown(snapshot: FlatSnapshot, entity: int) -> str:
    return snapshot.name_of(entity).title()


def _changes(snapshot: FlatSnapshot) -> GraphChanges:
    """A third of the documents is deleted, a third is replaced, and a third is new."""
    rng = np.random.default_rng(_SEED + 1)
    count, columns = _DOCUMENTS * _CHUNKS_OF_DOCUMENT, snapshot.columns
    old = rng.choice(len(columns.chunk_ids), 2 * count // 3, replace=False)
    fresh = _ids(rng, count // 3)
    replaced = [columns.chunk_ids[place] for place in old[: count // 3].tolist()]
    ids = [id.decode() for id in [*replaced, *fresh.tolist()]]
    mentioned = _zipf(rng, len(columns.entity_ids), (len(ids), _MENTIONS))
    listed = snapshot.entity_ids(np.unique(mentioned).tolist())
    entity_of = dict(zip(np.unique(mentioned).tolist(), listed, strict=True))
    terms = _terms(rng, len(ids))
    return GraphChanges(
        generation=2,
        removed=[columns.chunk_ids[place].decode() for place in old.tolist()],
        added=graph_rows(
            chunks=[
                GraphChunk(id, ids[n // 10], id, n % 10, entity_of[int(mentioned[n, 0])], terms[n].tobytes())
                for n, id in enumerate(ids)
            ],
            entities=[
                *((id, snapshot.name_of(entity)) for entity, id in entity_of.items()),
                *((entity_id(f"newcomer {n}"), f"newcomer {n}") for n in range(len(ids))),
            ],
            mentions=sorted(
                {(id, entity_of[e]) for id, row in zip(ids, mentioned.tolist(), strict=True) for e in row}
                | {(id, entity_id(f"newcomer {n}")) for n, id in enumerate(ids)}
            ),
            facts=[
                (id, entity_of[a], entity_of[b])
                for id, row in zip(ids, mentioned.tolist(), strict=True)
                for a, b in zip(row[::2], row[1::2], strict=True)
            ],
        ),
    )


def _write(folder: Path, size: int) -> dict[str, float]:
    worked = time.process_time()
    columns = _columns(size)
    generated = time.process_time() - worked
    snapshot = make_snapshot(1, columns)
    SnapshotFolder(folder).write(encode_snapshot(_CORPUS, snapshot))
    file_bytes = SnapshotFolder(folder).path_of(_CORPUS).stat().st_size
    return {
        "build_cpu_seconds": time.process_time() - worked - generated,
        "size_mb": file_bytes / _MEGABYTE,
        "build_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MEGABYTE,
    }


def _compact(folder: Path) -> dict[str, float]:
    """Lays the changes over the file, and writes the two as one in its place."""
    later = follow(snapshot := _open(folder), _changes(snapshot))
    assert isinstance(later, LayeredSnapshot)
    before, peaks, is_done = _memory("self")["own_mb"], [0.0], threading.Event()

    def watch() -> None:
        while not is_done.wait(_WATCH_SECONDS):
            peaks.append(_memory("self")["own_mb"])

    with ThreadPoolExecutor() as pool:
        watching = pool.submit(watch)
        try:
            began, worked = time.perf_counter(), time.process_time()
            SnapshotFolder(folder).write(encode_compacted(_CORPUS, later))
            took = {"compact_seconds": time.perf_counter() - began, "compact_cpu_seconds": time.process_time() - worked}
        finally:
            is_done.set()
        watching.result()
    return took | {"compact_own_mb": max(peaks) - before}


def _columns(size: int) -> Columns:
    rng = np.random.default_rng(_SEED)
    entities = _NAMES * size
    mentions = np.empty((size * _MENTIONS, 2), np.int32)
    mentions[:, 0] = np.repeat(np.arange(size), _MENTIONS)
    mentions[:, 1] = _zipf(rng, entities, (len(mentions),))
    mentions[::_MENTIONS, 1] = rng.permutation(entities)[:size]
    entity_ids = _ids(rng, entities)
    titles = np.zeros((size, 2), "S32")
    titles[:, 0] = entity_ids[mentions[::_MENTIONS, 1]]
    documents = max(size // _CHUNKS_OF_DOCUMENT, 1)
    offsets = make_offsets(np.full(size, _TERMS, np.int64))
    return canonicalise(
        Columns(
            chunk_ids=_ids(rng, size),
            view_ids=_ids(rng, size),
            document_ids=_ids(rng, documents),
            document_of=(np.arange(size) % documents).astype(np.int32),
            position=np.zeros(size, np.int32),
            title_ids=titles,
            terms=ChunkTerms(offsets=offsets, rows=_terms(rng, size).ravel()),
            entity_ids=entity_ids,
            names=pack_names(f"person {n} of the place {n % 9_973}" for n in range(entities)),
            mentions=mentions,
            facts=np.concatenate([mentions[1::2, :1], mentions[1::2, 1:], mentions[::2, 1:]], axis=1),
            synonyms=rng.integers(0, entities, (size, 2), np.int32),
            scores=np.full(size, 0.875, np.float32),
        )
    )


def _ids(rng: np.random.Generator, count: int) -> Ids:
    """Returns ids of 32 digits, ascending."""
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[rng.integers(0, 16, (count, 32), np.uint8)]
    ids: Ids = np.sort(digits.reshape(-1).view("S32"))
    return ids


def _zipf(rng: np.random.Generator, size: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Returns numbers below `size`; number n is drawn in proportion to 1 / (n + 1)."""
    drawn: NDArray[np.int64] = (size ** rng.random(shape)).astype(np.int64) - 1
    return drawn * 7_919 % size  # hubs lie anywhere among the ids


def _terms(rng: np.random.Generator, chunks: int) -> NDArray[Any]:
    terms = np.zeros((chunks, _TERMS), TERM)
    terms["stem"] = np.sort(_zipf(rng, 1_000_003, (chunks, _TERMS)) * 4_093 % 2**32, axis=1)
    terms["count"] = 1
    return terms


def _memory(process: int | str) -> dict[str, float]:
    """Megabytes of a process: its share of the pages of files, and what is its own alone."""
    lines = [line.split() for line in Path(f"/proc/{process}/smaps_rollup").read_text("utf-8").splitlines()[1:]]
    sizes = {name.rstrip(":"): 1024 * int(size) / _MEGABYTE for name, size, *_ in lines}
    return {"file_mb": sizes["Pss"] - sizes["Pss_Anon"], "own_mb": sizes["Private_Dirty"]}


if __name__ == "__main__":
    if sys.argv[2:] == ["compact"]:
        print(json.dumps(_compact(Path(sys.argv[1]))))
    elif len(sys.argv) > 2:
        print(json.dumps(_write(Path(sys.argv[1]), int(sys.argv[2]))))
    else:
        _hold(Path(sys.argv[1]))
