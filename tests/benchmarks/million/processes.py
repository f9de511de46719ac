"""What a process takes in memory, a folder on the disk, a search in time, and the snapshot file of a corpus in all."""

import resource
import sqlite3
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.strategies import parse_spec
from core.trace import Trace

__all__ = ["database_bytes", "folder_bytes", "memory_mb", "searched", "write_snapshot"]

_MEGABYTE = 1_000_000
_NAMES = {"Rss": "resident", "Pss": "shared out", "Private_Dirty": "own, changed", "Private_Clean": "own, as the file"}


def memory_mb(pid: int) -> dict[str, float]:
    """Returns the resident memory; with what is shared with others divided by their number; and what is its own."""
    lines = [line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()[1:]]
    sizes = {name.rstrip(":"): 1024 * int(size) / _MEGABYTE for name, size, *_ in lines}
    return {shown: sizes[name] for name, shown in _NAMES.items()}


async def searched(
    container: Container, corpus: Corpus, question: str, name: str, generation: int | None = None
) -> dict[str, float]:
    """Returns the seconds of a search, of its stages, and in all without those of embedding the question."""
    trace = Trace()
    request = SearchRequest(query=question, searcher=parse_spec(name), k=10, min_generation=generation)
    began = time.perf_counter()
    await search(container, corpus, request, trace)
    seconds = time.perf_counter() - began
    return {**trace.timing, "all": seconds, "without embedding": seconds - trace.timing.get("embed", 0.0)}


async def write_snapshot(container: Container, corpus: Corpus) -> dict[str, float]:
    """Returns what it takes, in a process of its own if the corpus is large and has none."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    await container.snapshots.prepare(corpus.id)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": after.ru_maxrss * 1024 / 1e6,
    }


_KINDS = {"files": "originals", "text": "text index", "snapshots": "snapshots"}
_BLOCK = 512


def folder_bytes(folder: Path) -> dict[str, int]:
    """Returns the bytes of the blocks of all files: of each file at the top, and of the known folders in it."""
    found: dict[str, int] = defaultdict(int)
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                part = path.relative_to(folder).parts[0]
                found[_KINDS.get(part, part)] += path.stat().st_blocks * _BLOCK
        except FileNotFoundError:
            continue  # it was replaced meanwhile
    return dict(found)


def database_bytes(path: Path) -> dict[str, int]:
    """Returns the bytes of the pages of each table and index. Reads the file once, so it may take minutes."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        try:
            rows = db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
        except sqlite3.OperationalError:  # SQLite was built without it
            return {}
    return dict(rows)
