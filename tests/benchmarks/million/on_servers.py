"""The same passages on Neo4j and Milvus: `python -m tests.benchmarks.million.on_servers [--passages N] [--more M]`.

A first part of `--small` passages comes in, is searched and changed; then ten parts with one worker, and `--more`
passages with two workers and with four; then all of it is searched and changed again. Servers and workers share the
machine with the measurement, so two workers are no faster where one uses all of it. With `--report FILE`, what has been
measured is in the file also when the rest fails.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora
from core.corpora import Corpus, Fine
from core.settings import read_settings
from tests.benchmarks.check import Check, at_least, at_most, describe, figure, markdown
from tests.benchmarks.documents.endpoint import word_embeddings
from tests.benchmarks.documents.jobs import ingest, job_seconds
from tests.benchmarks.million.changing import measure_changes
from tests.benchmarks.million.material import make_passages
from tests.benchmarks.million.processes import folder_bytes, memory_mb, write_snapshot
from tests.benchmarks.million.searching import measure_first_search, measure_searches
from tests.benchmarks.operation.processes import cpu_seconds
from tests.servers.installation import Installation, configured, installation

__all__ = ["checks", "measure"]

_CORPUS = "million"
_PARTS = 10
_WARM_UP = 200
_HEAP = "2g"
_CHANGES = ("adding", "replacing", "deleting")


@dataclass
class _Run:
    """Ingests the passages one part after another, and keeps what each costs."""

    servers: Installation
    container: Container
    corpus: Corpus
    file: Path | None
    done: int = 0
    report: dict[str, Any] = field(default_factory=dict)

    async def ingest(self, passages: int, workers: int) -> dict[str, Any]:
        start, self.done = self.done, self.done + passages
        async with self._costing() as part:
            job = await ingest(self.container, self.corpus, make_passages(start, self.done))
        seconds = job_seconds(job)
        spent = part.pop("server_cpu_seconds")
        return part | {
            "stop": self.done,
            "workers": workers,
            "per_second": passages / seconds,
            "server_cpu_ms": {name: 1e3 * used / passages for name, used in spent.items()},
            "server_mb": {one.name: memory_mb(one.pid or 0)["resident"] for one in self.servers.servers},
            "disk": {one.name: sum(folder_bytes(one.home).values()) for one in self.servers.servers},
        }

    async def search_and_change(self, name: str) -> None:
        """Keeps what a snapshot, searches and changes take at the present size."""
        found: dict[str, Any] = {"passages": self.done}
        async with self._costing() as snapshot:
            snapshot.update(await write_snapshot(self.container, self.corpus))
        self.keep(name, found | {"snapshot": snapshot})
        data = Path(os.environ["HOPWEAVE_DATA_DIR"])
        async with self._costing() as first:
            first.update(await asyncio.to_thread(measure_first_search, data, self.corpus, self.done))
        self.keep(name, self.report[name] | {"first search after the ingest": first})
        async with self._costing() as searches:
            searches.update(await asyncio.to_thread(measure_searches, data, self.corpus, self.done))
        self.keep(name, self.report[name] | {"searches": searches})
        async with self._costing() as changes:
            changes.update(await measure_changes(self.container, self.corpus, self.done))
        self.keep(name, self.report[name] | {"changes": changes})

    def keep(self, name: str, value: Any) -> None:
        self.report[name] = value
        if self.file:
            self.file.write_text(json.dumps(self.report, indent=2), encoding="utf-8")
        sys.stderr.write(f"  {name}: {json.dumps(value)}\n")

    @asynccontextmanager
    async def _costing(self) -> AsyncIterator[dict[str, Any]]:
        before, cost = self._server_cpu(), dict[str, Any]()
        yield cost
        cost["server_cpu_seconds"] = {name: used - before[name] for name, used in self._server_cpu().items()}

    def _server_cpu(self) -> dict[str, float]:
        return {one.name: cpu_seconds(one.pid or 0) for one in self.servers.servers}


async def measure(passages: int, more: int, small: int, file: Path | None = None) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory(prefix="hopweave-million-") as folder,
        word_embeddings(),
        installation(Path(folder), heap=_HEAP) as servers,
        configured(servers.settings),
    ):
        container = Container(read_settings())
        try:
            corpus = await corpora.create(container, _CORPUS, chunker="passage", extractor="given", fine=Fine.OFF)
            run = _Run(servers, container, corpus, file)
            await _run(run, passages, more, small)
        finally:
            await container.close()
    return run.report


async def _run(run: _Run, passages: int, more: int, small: int) -> None:
    parts: list[dict[str, Any]] = []
    with _working(run.servers, 1):
        await run.ingest(_WARM_UP, 1)
        run.keep("first", await run.ingest(small, 1))
        await run.search_and_change("small")
        for _ in range(_PARTS):
            parts.append(await run.ingest((passages - run.done) // (_PARTS - len(parts)), 1))
            run.keep("parts", parts)
    beside: list[dict[str, Any]] = []
    for workers in (2, 4):
        with _working(run.servers, workers):
            await run.ingest(_WARM_UP, workers)
            beside.append(await run.ingest(more, workers))
            run.keep("workers", beside)
    with _working(run.servers, 1):
        await run.search_and_change("large")


def checks(report: dict[str, Any]) -> list[Check]:
    parts, small, large = report["parts"], report["small"], report["large"]
    size = f"servers, {large['passages']:,} passages"
    alone = large["searches"]["alone"]
    p50 = {name: stages["without embedding"]["p50"] for name, stages in alone["ms"].items()}
    before = {name: one["without embedding"]["p50"] for name, one in small["searches"]["alone"]["ms"].items()}
    slowest = max(one["seconds"] for name in _CHANGES for one in large["changes"][name])
    return [
        at_least(
            f"{size}: passages/s of the last part, of those of the first",
            parts[-1]["per_second"] / parts[0]["per_second"],
            0.8,
        ),
        figure(f"{size}: passages/s, one worker", parts[-1]["per_second"]),
        *(
            figure(
                f"{size}: passages/s, {one['workers']} workers, times one", one["per_second"] / parts[-1]["per_second"]
            )
            for one in report["workers"]
        ),
        figure(f"{size}: the snapshot file is written, s", large["snapshot"]["seconds"]),
        figure(f"{size}: first search after the ingest, s", large["first search after the ingest"]["all"]),
        at_most(f"{size}: first search after a start, s", alone["first_seconds"]["all"], 3),
        at_most(f"{size}: dense p50 without embedding, ms", p50["dense"], 15),
        figure(f"{size}: sparse p50, ms", p50["sparse"]),
        at_most(f"{size}: bridged p50 without embedding, ms", p50["bridged"], 50),
        *(figure(f"{size}: {name} p50, times that at {small['passages']:,}", p50[name] / before[name]) for name in p50),
        at_most(f"{size}: own memory of a process that searches, MB", alone["memory_mb"]["own, changed"], 1500),
        at_most(f"{size}: two processes together, times one", large["searches"]["two_ratio"], 1.3),
        at_most(f"{size}: 100 documents changed: s of the search that has them, slowest", slowest, 2),
        at_most(
            f"{size}: jobs of 100 changed and their search, times those at {small['passages']:,}",
            _change_seconds(large) / _change_seconds(small),
            1.3,
        ),
        *(
            figure(f"{size}: {name} on the disk, kB a passage", used / large["passages"] / 1e3)
            for name, used in report["workers"][-1]["disk"].items()
        ),
    ]


def _change_seconds(at_size: dict[str, Any]) -> float:
    changed = [one for name in _CHANGES for one in at_size["changes"][name]]
    return sum(float(one["job_seconds"] + one["seconds"]) for one in changed)


@contextmanager
def _working(servers: Installation, workers: int) -> Iterator[None]:
    servers.start_worker(workers)
    try:
        yield
    finally:
        servers.stop_workers()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.million.on_servers")
    parser.add_argument("--passages", type=int, default=1_000_000, help="with one worker")
    parser.add_argument("--more", type=int, default=10_000, help="with two workers, and with four")
    parser.add_argument("--small", type=int, default=10_000, help="the size that the last one is compared with")
    parser.add_argument("--report", type=Path, help="a file for what has been measured so far")
    given = parser.parse_args()
    found = asyncio.run(measure(given.passages, given.more, given.small, given.report))
    print(json.dumps({"machine": describe(), **found}, indent=2), markdown(checks(found)), sep="\n\n")
