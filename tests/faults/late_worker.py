"""A worker without the folder lock, which stops in the middle of its work until it is told to go on.

`python late_worker.py FOLDER CORPUS_ID`: prints `embedding` once it holds its claims and is about to write, waits for a
line, and prints `done` at its end.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.execution.shared_secrets import SharedSecret
from indexer import IndexingBackends, Worker, WorkerOptions
from stores.files import FolderFileStore
from stores.sqlite import SqliteRecord, SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from tests.twins.embedder import TwinEmbedder

LEASE_SECONDS = 1.0


class Waiting(TwinEmbedder):
    """Embeds when a line comes in."""

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        print("embedding", flush=True)
        sys.stdin.readline()  # blocks the loop on purpose: a stopped process renews nothing
        return await super().embed_passages(texts)


async def main(folder: Path, corpus_id: str) -> None:
    record = SqliteRecord(folder / "record.db")
    backends = IndexingBackends(
        record=record,
        certificate_secret=SharedSecret("c" * 32, Path(), what="it", setting="it"),
        vectors=SqliteVectorStore(folder / "vectors.db"),
        text=TantivyTextIndex(folder / "text"),
        files=FolderFileStore(folder / "files"),
        embedder=Waiting(),
    )
    options = WorkerOptions(
        lease_seconds=LEASE_SECONDS, renew_seconds=0.2, batch_bytes=10**6, task_seconds=1.0, retry_seconds=30
    )
    await Worker("late", backends, options).work(corpus_id)
    print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
