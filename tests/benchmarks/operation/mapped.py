"""Opening the snapshot of a corpus from its file, beside building it: processor time, and memory of a second process.

`python -m tests.benchmarks.operation.mapped FOLDER CORPUS` opens or builds it as a new process does, prints a report,
and waits for the end of its input with the snapshot in memory.
"""

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.corpora import CorpusSettings, Fine
from core.ids import chunk_id, document_id, entity_id, triple_id, view_id
from core.text.terms import TERM
from retrieval import SnapshotCache, SnapshotFiles
from retrieval.graph.snapshot_folder import SnapshotFolder
from stores.sqlite import SqliteRecord
from stores.sqlite.packing import pack_terms
from tests.benchmarks.check import Check, at_least, at_most, figure

__all__ = ["checks", "measure"]

_PASSAGES = 50_000
_TERMS, _MENTIONS, _FACTS = 60, 12, 4
_SEED = 7
_MEGABYTE = 1_000_000
_SNAPSHOTS = "snapshots"


def measure() -> dict[str, Any]:
    """Processes of their own: one builds the snapshot and writes its file, two map it at the same time."""
    with tempfile.TemporaryDirectory(prefix="hopweave-mapped-") as name:
        folder = Path(name)
        corpus_id = asyncio.run(_write_corpus(folder))
        with _process(folder, corpus_id) as built:
            pass
        with _process(folder, corpus_id) as first, _process(folder, corpus_id) as second:
            pass
        file_bytes = SnapshotFolder(folder / _SNAPSHOTS).path_of(corpus_id).stat().st_size
    return {"passages": _PASSAGES, "file_bytes": file_bytes, "built": built, "mapped": [first, second]}


def checks(report: dict[str, Any]) -> list[Check]:
    built, (first, second) = report["built"], report["mapped"]
    what = f"snapshot of {report['passages']:,} passages"
    opening = max(first["cpu_seconds"], second["cpu_seconds"]) / built["cpu_seconds"]
    return [
        at_most(f"{what}: processor time to map it, of that to build it", opening, 0.1),
        at_most(f"{what}: PSS of the second process, of that of a copy", second["pss_mb"] / built["pss_mb"], 0.6),
        at_most(f"{what}: own memory of the second process, of a copy", second["own_mb"] / built["own_mb"], 0.25),
        at_least(f"{what}: the same when mapped", first["checksum"] == second["checksum"] == built["checksum"], 1),
        figure(f"{what}: s of the processor to build it", built["cpu_seconds"]),
        figure(f"{what}: MB of its file", report["file_bytes"] / _MEGABYTE),
    ]


@contextmanager
def _process(folder: Path, corpus_id: str) -> Iterator[dict[str, Any]]:
    """A process that holds the snapshot within the block, and then writes its file if there is none."""
    command = [sys.executable, "-m", "tests.benchmarks.operation.mapped", str(folder), corpus_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.stdin.close()
    if process.returncode:
        raise RuntimeError(f"the process that holds the snapshot ended with {process.returncode}")


async def _hold(folder: Path, corpus_id: str) -> None:
    record = SqliteRecord(folder / "record.db")
    await record.graph.generation(corpus_id)
    files = SnapshotFiles(record.graph, folder / _SNAPSHOTS)
    cache = SnapshotCache(record.graph, files=files, interval=3600)
    before, began = _memory(), time.process_time()
    snapshot = await cache.get(corpus_id)
    cpu_seconds = time.process_time() - began
    checksum = _checksum(snapshot)  # reads every page
    after = _memory()
    grown = {name: (after[name] - before[name]) / _MEGABYTE for name in after}
    print(json.dumps({"cpu_seconds": cpu_seconds, "checksum": checksum, **grown}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await cache.close()
    await record.close()


def _memory() -> dict[str, int]:
    """Bytes of this process: with its share of what it shares with others (PSS), and what is its own alone."""
    lines = [line.split() for line in Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines()[1:]]
    sizes = {name.rstrip(":"): 1024 * int(size) for name, size, *_ in lines}
    return {"pss_mb": sizes["Pss"], "own_mb": sizes["Private_Dirty"] + sizes["Private_Clean"]}


def _checksum(value: object) -> int:
    if isinstance(value, np.ndarray):
        return 0 if value.dtype.hasobject else zlib.crc32(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    if not is_dataclass(value):
        return 0
    parts = [_checksum(getattr(value, field.name)) for field in fields(value)]
    return zlib.crc32(json.dumps(parts).encode())


async def _write_corpus(folder: Path) -> str:
    """Writes the rows that snapshots are made of straight into the record; indexing them would take many minutes."""
    record = SqliteRecord(folder / "record.db")
    settings = CorpusSettings(
        chunker="passage", extractor="pattern", fine=Fine.OFF, embedding_model="none", dimension=1
    )
    corpus = await record.corpora.create("mapped", settings)
    await record.close()
    with closing(sqlite3.connect(folder / "record.db")) as db, db:
        for table, rows in _rows(corpus.id):
            places = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)  # noqa: S608  # names of this module
        db.execute("UPDATE corpora SET generation = 1 WHERE id = ?", (corpus.id,))
    return corpus.id


def _rows(corpus: str) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    rng = np.random.default_rng(_SEED)
    chunks = [chunk_id("mapped", str(n), 0) for n in range(_PASSAGES)]
    names = [f"person number {n} of the place {n % 97}" for n in range(2 * _PASSAGES)]
    entities = [entity_id(name) for name in names]
    documents = [document_id(str(n)) for n in range(_PASSAGES // 10)]
    yield (
        "documents (corpus_id, id, key, title, metadata, newest, current, chunks)",
        [(corpus, id, str(n), "", "{}", 1, 1, 10) for n, id in enumerate(documents)],
    )
    terms = np.zeros((_PASSAGES, _TERMS), TERM)
    terms["stem"] = np.sort(rng.zipf(1.3, (_PASSAGES, _TERMS)) % 1_000_003 * 4093 % 2**32, axis=1)
    terms["count"] = 1
    yield "corpus_numbers (number, id)", [(1, corpus)]
    columns = "corpus, id, document_id, view_id, position, title_names, terms, text, heading, extract_hash, tokens"
    yield (
        f"chunk_rows (number, {columns})",
        [
            (
                n,
                1,
                id,
                documents[n // 10],
                view_id(id, ""),
                n % 10,
                entities[n],
                pack_terms(terms[n].tobytes()),
                "",
                "",
                "",
                1,
            )
            for n, id in enumerate(chunks)
        ],
    )
    yield (
        "entity_rows (number, corpus, id, name)",
        [(n, 1, id, name) for n, (id, name) in enumerate(zip(entities, names, strict=True))],
    )
    yield "form_rows (number, entity, form, count)", [(n, n, "", 1) for n in range(len(entities))]
    mentioned = rng.integers(0, len(names), (_PASSAGES, _MENTIONS)).tolist()
    yield (
        "mention_rows (chunk, form, count)",
        [(n, e, 1) for n, row in enumerate(mentioned) for e in sorted(set(row))],
    )
    facts = [(n, entities[row[i]], entities[row[i + 1]]) for n, row in enumerate(mentioned) for i in range(_FACTS)]
    triples = [(triple_id(subject, "knows", object_), *fact) for fact in facts for _, subject, object_ in [fact]]
    yield (
        "fact_rows (chunk, triple, subject, object, predicate)",
        sorted({(chunk, *map(bytes.fromhex, (t, s, o)), "knows") for t, chunk, s, o in triples}),
    )


if __name__ == "__main__":
    asyncio.run(_hold(Path(sys.argv[1]), sys.argv[2]))
