"""Stores in one folder that several worker processes share, and a doorbell on a real Redis.

What the broker does is then seen without a Neo4j and a Milvus beside. `python -m tests.shared_folder [--parent FD]`
with `environment(…)` is a worker process.
"""

import argparse
import asyncio
import fcntl
import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from celery import signals
from celery.platforms import SecurityWarning

from app.container import Container
from app.worker.servers import ServerWorkerProcess
from core.ports.embedding import Embedder
from core.ports.files import FileStore
from core.ports.record import Record
from core.ports.views import TextEntry, TextIndex, VectorStore
from core.settings import read_settings
from stores.files import FolderFileStore
from stores.sqlite import SqliteRecord, SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from tests.twins.embedder import TwinEmbedder

SECONDS_A_TEXT = 0.01
TAKES_MESSAGES = "takes messages"
"""What a worker process says once it does; from then on it is Celery that hears signals."""


def embedded_by(folder: Path) -> Path:
    """Holds a file for each process that embedded something, named by its number."""
    return folder / "embedded-by"


def hold(folder: Path) -> Path:
    """A file: as long as it is there, no worker process ends an embedding that it has begun."""
    return folder / "hold"


def environment(folder: Path, broker: str, **more: str) -> dict[str, str]:
    """What makes settings of servers; none of the servers but the broker is asked."""
    named = {
        "DATA_DIR": str(folder),
        "STORE__RECORD": "neo4j",
        "STORE__TEXT": "neo4j",
        "STORE__VECTORS": "milvus",
        "FILES__URL": str(folder / "files"),
        "BROKER__URL": broker,
        **more,
    }
    return {f"HOPWEAVE_{name}": value for name, value in named.items()}


class SlowEmbedder(TwinEmbedder):
    """Takes a while for each text, as a model does, and no processor; notes in the folder which process embeds."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__()
        self._noted = embedded_by(data_dir)
        self._hold = hold(data_dir)

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        self._noted.mkdir(parents=True, exist_ok=True)
        (self._noted / str(os.getpid())).touch()
        await asyncio.sleep(SECONDS_A_TEXT * len(texts))
        while self._hold.exists():  # noqa: ASYNC110 - another process creates and deletes the file
            await asyncio.sleep(SECONDS_A_TEXT)
        return await super().embed_passages(texts)


class OneAtATime(TantivyTextIndex):
    """Its writers, in several processes, wait for one another."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._guard = folder.with_suffix(".lock")

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        await asyncio.to_thread(lambda: asyncio.run(self._write(corpus_id, entries)))

    async def _write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        with _locked(self._guard):
            await super().write(corpus_id, entries)


class SharedFolder(Container):
    """All but the broker is in the data folder."""

    @cached_property
    def record(self) -> Record:
        return SqliteRecord(self.settings.data_dir / "record.db")

    @cached_property
    def vectors(self) -> VectorStore:
        return SqliteVectorStore(self.settings.data_dir / "vectors.db")

    @cached_property
    def text(self) -> TextIndex:
        return OneAtATime(self.settings.data_dir / "text")

    @cached_property
    def files(self) -> FileStore:
        return FolderFileStore(self.settings.data_dir / "files")

    @cached_property
    def embedder(self) -> Embedder:
        return SlowEmbedder(self.settings.data_dir)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parent", type=int, default=None)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    warnings.filterwarnings("ignore", category=SecurityWarning)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signals.worker_ready.connect(lambda **_: print(TAKES_MESSAGES, file=sys.__stderr__, flush=True), weak=False)
    return ServerWorkerProcess(SharedFolder(read_settings())).run(arguments.parent)


if __name__ == "__main__":
    sys.exit(main())
