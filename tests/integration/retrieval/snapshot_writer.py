"""A process that writes snapshots of ever later generations until it is killed, and prints each that is in the folder.

`python -P snapshot_writer.py FOLDER CORPUS FIRST STEP`; the snapshot of generation `n` has `CHUNKS` + `n` % 7 chunks.
`python -P snapshot_writer.py compact FOLDER CORPUS BLOCKS` lays changes over the file, and is killed when it has
written so many blocks of the two as one.
"""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from core.ids import chunk_id, document_id, entity_id, view_id
from core.ports.record.graph import GraphChanges, GraphChunk, GraphRows, graph_rows
from retrieval import SnapshotCache, SnapshotFiles
from retrieval.graph.compaction import encode_compacted
from retrieval.graph.layered import LayeredSnapshot, follow
from retrieval.graph.snapshot import build_snapshot
from retrieval.graph.snapshot_files import FilePolicy
from retrieval.graph.snapshot_folder import SnapshotFolder
from retrieval.graph.snapshot_format import FileContent, Stream, decode_snapshot, encode_snapshot
from stores.sqlite import SqliteRecord

CHUNKS = 600


def rows_of(generation: int) -> GraphRows:
    ids = [chunk_id("k", str(n), 0) for n in range(CHUNKS + generation % 7)]
    return graph_rows(
        chunks=[GraphChunk(id, document_id("d"), view_id(id, ""), n, "", b"") for n, id in enumerate(ids)],
        entities=[(entity_id(str(n)), str(n)) for n in range(100)],
        mentions=[(id, entity_id(str(n % 100))) for n, id in enumerate(ids)],
    )


class Writer:
    """The writing process, seen from the test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def await_written(self) -> int:
        """Waits for the next generation that is in the folder."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def kill(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()


def snapshot_writer(folder: Path, corpus_id: str, first: int = 0, step: int = 1) -> AbstractContextManager[Writer]:
    return _run(str(folder), corpus_id, str(first), str(step))


def snapshot_follower(record: Path, folder: Path, corpus_id: str) -> AbstractContextManager[Writer]:
    """A process that follows the record and writes each snapshot that it has, until it is killed."""
    return _run("follow", str(record), str(folder), corpus_id)


def kill_compaction(folder: Path, corpus_id: str, blocks: int) -> int:
    """Returns the exit code of a process that is killed while it writes a file and the changes over it as one."""
    command = [sys.executable, "-P", __file__, "compact", str(folder), corpus_id, str(blocks)]
    return subprocess.run(command, check=False).returncode


def compacted(folder: Path, corpus_id: str) -> FileContent:
    """The file, and a change over it: a chunk is removed, and one is new."""
    content = SnapshotFolder(folder).read(corpus_id)
    assert content is not None
    id = chunk_id("k", "new", 0)
    new = graph_rows(
        chunks=[GraphChunk(id, document_id("new"), view_id(id, ""), 0, "", b"")],
        entities=[(entity_id("new"), "new"), (entity_id("1"), "1")],
        mentions=[(id, entity_id("new")), (id, entity_id("1"))],
    )
    changes = GraphChanges(generation=content.generation + 1, removed=[chunk_id("k", "0", 0)], added=new)
    snapshot = follow(decode_snapshot(content), changes, least=0)
    assert isinstance(snapshot, LayeredSnapshot)
    return encode_compacted(corpus_id, snapshot)


@contextmanager
def _run(*arguments: str) -> Iterator[Writer]:
    command = [sys.executable, "-P", __file__, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Writer(process)
        finally:
            process.kill()


def _write(folder: Path, corpus_id: str, first: int, step: int) -> None:
    files = SnapshotFolder(folder)
    contents = [encode_snapshot(corpus_id, build_snapshot(n, rows_of(n))) for n in range(7)]
    for generation in itertools.count(first, step):
        files.write(replace(contents[generation % 7], generation=generation))
        print(generation, flush=True)


def _compact_until_killed(folder: Path, corpus_id: str, blocks: int) -> None:
    content, left = compacted(folder, corpus_id), itertools.count(blocks, -1)

    def kill_in(stream: Stream) -> Stream:
        def made() -> Iterator[tuple[NDArray[Any], ...]]:
            for block in stream.blocks():
                if next(left) == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                yield block

        return replace(stream, blocks=made)

    SnapshotFolder(folder).write(replace(content, streams=[kill_in(stream) for stream in content.streams]))


async def _follow(record_path: Path, folder: Path, corpus_id: str) -> None:
    record = SqliteRecord(record_path)
    policy = FilePolicy(least_chunks=0, idle_seconds=0, lacking_seconds=0, pause_seconds=0)
    cache = SnapshotCache(record.graph, files=SnapshotFiles(record.graph, folder, policy), interval=0, patience=60)
    while True:
        print((await cache.get(corpus_id)).generation, flush=True)


if __name__ == "__main__" and sys.argv[1] == "follow":
    asyncio.run(_follow(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
elif __name__ == "__main__" and sys.argv[1] == "compact":
    _compact_until_killed(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
elif __name__ == "__main__":
    _write(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
