"""What HTTP costs: searches per second through `hopweave serve` against the same searches in process."""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_least
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["Server", "checks", "measure", "running", "serving"]

_CLIENTS = 8
_ROUNDS = 3
_REPEATS = 3
_WARM_UP = 40
_MOST_SECONDS = 120.0
_READY_SECONDS = 90.0
_HOPWEAVE = Path(sys.executable).with_name("hopweave")


async def measure(dataset: Path, processes: int = 1) -> dict[str, Any]:
    """Both in turn over the same data folder, each idle while the other is measured; the median of the rounds."""
    read = read_dataset(dataset)
    questions = [question.text for question in read.questions]
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        with serving(shop, processes) as port:
            await asyncio.to_thread(_over_http, port, corpus, questions[:_WARM_UP])
            await _in_process(shop.container, corpus, questions[:_WARM_UP])
            rounds = []
            for _ in range(_ROUNDS):
                here = await _in_process(shop.container, corpus, _REPEATS * questions)
                there = await asyncio.to_thread(_over_http, port, corpus, _REPEATS * questions)
                rounds.append({"in_process_per_second": here, "http_per_second": there, "ratio": there / here})
    return {
        "clients": _CLIENTS,
        "server_processes": processes,
        "rounds": rounds,
        "ratio": statistics.median(one["ratio"] for one in rounds),
    }


def checks(report: dict[str, Any]) -> list[Check]:
    return [at_least("HTTP: searches/s, share of those in process", report["ratio"], 0.6)]


async def _in_process(container: Container, corpus: Corpus, questions: list[str]) -> float:
    """Searches per second of eight tasks that take questions from one queue."""
    waiting = deque(questions)

    async def ask() -> None:
        while waiting:
            request = SearchRequest(query=waiting.popleft(), searcher=parse_spec("fused"), k=5)
            await search(container, corpus, request, Trace())

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(_CLIENTS):
            group.create_task(ask())
    return len(questions) / (time.perf_counter() - began)


def _over_http(port: int, corpus: Corpus, questions: list[str]) -> float:
    """Searches per second of eight connections; raises if any was refused."""
    bodies = "".join(json.dumps({"query": text, "searcher": "fused", "k": 5}) + "\n" for text in questions)
    command = [sys.executable, "-m", "tests.benchmarks.http_load", str(port), f"/v1/corpora/{corpus.name}/search"]
    done = subprocess.run(
        [*command, str(_CLIENTS), str(_MOST_SECONDS)], input=bodies.encode(), stdout=subprocess.PIPE, check=True
    )
    report = json.loads(done.stdout)
    if report["statuses"] != {"200": len(questions)}:
        raise RuntimeError(f"not every search was answered: {report['statuses']}")
    return float(len(questions) / report["seconds"])


@contextmanager
def serving(shop: Workshop, processes: int, poll_seconds: float = 0.2) -> Iterator[int]:
    """`hopweave serve` over the shop's data folder, on a port that was free a moment ago."""
    with running(shop, processes, poll_seconds) as server:
        yield server.port


@dataclass(frozen=True, kw_only=True)
class Server:
    pid: int
    port: int


@contextmanager
def running(shop: Workshop, processes: int, poll_seconds: float = 0.2) -> Iterator[Server]:
    """As `serving`; also tells the process, which has started those that answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command: list[str | Path] = [_HOPWEAVE, "serve", "--port", str(port), "--workers", str(processes)]
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": str(shop.settings.data_dir)}
    log = shop.settings.data_dir / "serve.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        _wait_ready(server, port, log, poll_seconds)
        yield Server(pid=server.pid, port=port)
    finally:
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_ready(server: subprocess.Popen[bytes], port: int, log: Path, poll_seconds: float) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(poll_seconds)
    raise RuntimeError(f"`hopweave serve` did not become ready:\n{log.read_text(encoding='utf-8')[-2000:]}")
