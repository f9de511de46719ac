"""Searches through HTTP from many clients for a minute: errors, latencies, memory, and what a second process brings.

The clients are a process of their own (`tests.benchmarks.http_load`).
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora import Corpus
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.http import running
from tests.benchmarks.operation.processes import cpu_seconds, list_tree, memory_mb
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["Load", "checks", "compare", "measure"]

_PROCESSES = (1, 2)
_WORKER = b"app.worker"


@dataclass(frozen=True, kw_only=True)
class Load:
    """Memory is watched from a third of the time to its end. One client alone then asks as long as `alone_seconds`."""

    clients: int = 32
    seconds: float = 60
    alone_seconds: float = 5


async def measure(dataset: Path) -> dict[str, Any]:
    """The default searcher. One server after the other, each with the whole machine."""
    read = read_dataset(dataset)
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        return compare(shop, corpus, [question.text for question in read.questions], Load())


def compare(shop: Workshop, corpus: Corpus, questions: Sequence[str], load: Load) -> dict[str, Any]:
    """`times_one` is the searches per second of each number of processes, as a multiple of those of one."""
    rows = {str(processes): _measure_server(shop, corpus, questions, processes, load) for processes in _PROCESSES}
    one = rows[str(_PROCESSES[0])]["per_second"]
    return {
        "load": vars(load),
        "processes": rows,
        "times_one": {name: row["per_second"] / one for name, row in rows.items()},
    }


def checks(report: dict[str, Any]) -> list[Check]:
    found = []
    for name, row in report["processes"].items():
        what = f"load, {report['load']['clients']} clients, `--workers {name}`"
        found += [
            at_most(f"{what}: errors", row["errors"], 0),
            at_most(f"{what}: p99, times p50", row["p99_ms"] / row["p50_ms"], 5),
            at_most(f"{what}: memory's farthest from that after a third, share", row["memory_drift"], 0.05),
            figure(f"{what}: searches/s", row["per_second"]),
            figure(f"{what}: p50, ms", row["p50_ms"]),
            figure(f"{what}: cores that the server used", row["cores"]),
            figure(f"{what}: ms of the processor for one search", row["cpu_ms"]),
        ]
    found.append(at_least("load: searches/s with two processes, times one", report["times_one"]["2"], 1.6))
    return found


def _measure_server(
    shop: Workshop, corpus: Corpus, questions: Sequence[str], processes: int, load: Load
) -> dict[str, Any]:
    with running(shop, processes) as server:
        path = f"/v1/corpora/{corpus.name}/search"
        alone = _ask(server.port, path, questions, clients=1, seconds=load.alone_seconds)
        with _Watch(server.pid, load.seconds / 3) as watch:
            report = _ask(server.port, path, questions, clients=load.clients, seconds=load.seconds)
    latencies = sorted(report["latencies"])
    return {
        "errors": report["errors"],
        "statuses": report["statuses"],
        "per_second": len(latencies) / report["seconds"],
        "p50_ms": 1e3 * _quantile(latencies, 0.5),
        "p99_ms": 1e3 * _quantile(latencies, 0.99),
        "alone_p50_ms": 1e3 * _quantile(sorted(alone["latencies"]), 0.5),
        "cores": sum(watch.cpu_seconds) / report["seconds"],
        "cores_by_process": [seconds / report["seconds"] for seconds in watch.cpu_seconds],
        "cpu_ms": 1e3 * sum(watch.cpu_seconds) / len(latencies),
        "clients_cpu_seconds": report["cpu_seconds"],
        "memory_mb": watch.memory_mb,
        "memory_drift": watch.drift,
    }


def _ask(port: int, path: str, questions: Sequence[str], *, clients: int, seconds: float) -> Mapping[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.http_load", str(port), path, str(clients), str(seconds), "0"]
    bodies = "".join(json.dumps({"query": text, "k": 5}) + "\n" for text in questions)
    done = subprocess.run(command, input=bodies.encode(), stdout=subprocess.PIPE, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class _Watch:
    """Samples the processes of a server that answer, once a second, without its indexing worker."""

    def __init__(self, server: int, first_after: float) -> None:
        self._pids = [pid for pid in list_tree(server) if _WORKER not in Path(f"/proc/{pid}/cmdline").read_bytes()]
        self._first_after = first_after
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.memory_mb: list[float] = []
        self.cpu_seconds: list[float] = []

    def __enter__(self) -> "_Watch":
        self._began = time.monotonic()
        self._used_before = list(map(cpu_seconds, self._pids))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.cpu_seconds = [cpu_seconds(pid) - used for pid, used in zip(self._pids, self._used_before, strict=True)]

    @property
    def drift(self) -> float:
        """The largest difference to the first sample, as a share of it."""
        first = self.memory_mb[0]
        return max(abs(one - first) for one in self.memory_mb) / first

    def _sample(self) -> None:
        wait = self._first_after
        while not self._ended.wait(wait):
            self.memory_mb.append(sum(map(memory_mb, self._pids)))
            wait = 1.0
