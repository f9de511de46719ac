"""The same passages on Neo4j and Milvus: `python -m tests.benchmarks.million.on_servers [--passages N] [--more M]`.

Ten parts come in with one worker, and two more of `--more` passages with two and with four; then a process searches.
Servers and workers share the machine with the measurement, so two workers are no faster where one uses all of it.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora
from core.corpora import Corpus, Fine
from core.settings import read_settings
from tests.benchmarks.check import Check, figure, markdown
from tests.benchmarks.documents.jobs import ingest, job_seconds
from tests.benchmarks.machine import describe
from tests.benchmarks.million.disk import folder_bytes
from tests.benchmarks.million.endpoint import word_embeddings
from tests.benchmarks.million.material import make_passages
from tests.benchmarks.million.processes import cpu_seconds, memory_mb
from tests.benchmarks.million.searching import measure_searches
from tests.servers.installation import Installation, configured, installation

__all__ = ["checks", "measure"]

_CORPUS = "million"
_PARTS = 10
_WARM_UP = 200
_HEAP = "2g"


@dataclass
class _Ingests:
    """Ingests the passages one part after another."""

    servers: Installation
    container: Container
    corpus: Corpus
    done: int = 0

    async def run(self, passages: int, workers: int) -> dict[str, Any]:
        """Returns what a part cost."""
        start, self.done = self.done, self.done + passages
        before = _server_cpu(self.servers)
        job = await ingest(self.container, self.corpus, make_passages(start, self.done))
        after = _server_cpu(self.servers)
        part = {
            "stop": self.done,
            "workers": workers,
            "per_second": passages / job_seconds(job),
            "server_cpu_ms": {name: 1e3 * (after[name] - before[name]) / passages for name in after},
            "server_mb": {one.name: memory_mb(one.pid or 0)["resident"] for one in self.servers.servers},
            "disk": {one.name: sum(folder_bytes(one.home).values()) for one in self.servers.servers},
        }
        sys.stderr.write(f"  {json.dumps(part)}\n")
        return part


async def measure(passages: int, more: int) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory(prefix="hopweave-million-") as folder,
        word_embeddings(),
        installation(Path(folder), heap=_HEAP) as servers,
        configured(servers.settings),
    ):
        container = Container(read_settings())
        try:
            corpus = await corpora.create(container, _CORPUS, chunker="passage", extractor="given", fine=Fine.OFF)
            ingests = _Ingests(servers, container, corpus)
            with _working(servers, 1):
                await ingests.run(_WARM_UP, 1)
                parts = [await ingests.run(passages // _PARTS, 1) for _ in range(_PARTS)]
            beside = []
            for workers in (2, 4):
                with _working(servers, workers):
                    await ingests.run(_WARM_UP, workers)
                    beside.append(await ingests.run(more, workers))
            data = Path(os.environ["HOPWEAVE_DATA_DIR"])
            searches = await asyncio.to_thread(measure_searches, data, corpus, ingests.done)
        finally:
            await container.close()
    return {"passages": ingests.done, "parts": parts, "workers": beside, "searches": searches}


def checks(report: dict[str, Any]) -> list[Check]:
    parts, size = report["parts"], f"servers, {report['passages']:,} passages"
    alone = report["searches"]["alone"]
    return [
        figure(
            f"{size}: passages/s of the last part, of those of the first",
            parts[-1]["per_second"] / parts[0]["per_second"],
        ),
        figure(f"{size}: passages/s, one worker", parts[-1]["per_second"]),
        *(
            figure(
                f"{size}: passages/s, {one['workers']} workers, times one", one["per_second"] / parts[-1]["per_second"]
            )
            for one in report["workers"]
        ),
        figure(f"{size}: first search after a start, s", alone["first_seconds"]["all"]),
        *(
            figure(f"{size}: {name} p50 without embedding, ms", stages["without embedding"]["p50"])
            for name, stages in alone["ms"].items()
        ),
        figure(f"{size}: own memory of a process that searches, MB", alone["memory_mb"]["own, changed"]),
        *(
            figure(f"{size}: {name} on the disk, kB a passage", used / report["passages"] / 1e3)
            for name, used in report["workers"][-1]["disk"].items()
        ),
    ]


@contextmanager
def _working(servers: Installation, workers: int) -> Iterator[None]:
    servers.start_worker(workers)
    try:
        yield
    finally:
        servers.stop_workers()


def _server_cpu(servers: Installation) -> dict[str, float]:
    return {one.name: cpu_seconds(one.pid or 0) for one in servers.servers}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.million.on_servers")
    parser.add_argument("--passages", type=int, default=1_000_000, help="with one worker")
    parser.add_argument("--more", type=int, default=10_000, help="with two workers, and with four")
    given = parser.parse_args()
    found = asyncio.run(measure(given.passages, given.more))
    print(json.dumps({"machine": describe(), **found}, indent=2), markdown(checks(found)), sep="\n\n")
