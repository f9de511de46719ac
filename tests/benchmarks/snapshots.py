"""Snapshots of a graph of a million edges from Neo4j: how long, in how much memory, and how soon they follow a change.

`python -m tests.benchmarks.snapshots` prints JSON. Measures on a server of its own, or on the one that `--uri` and
`--password` name, in a corpus of its own, which it removes. `--corpus` keeps to the reading of one that is there.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.ids import new_id
from retrieval.graph.snapshot import build_snapshot
from retrieval.graph.snapshot_cache import SnapshotCache
from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.record.graph import Neo4jGraphSource
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.synthetic_graph import Size, add_facts, remove, write
from tests.servers.neo4j_server import PASSWORD, USER, Neo4jServer
from tests.servers.ports import free_ports

__all__ = ["checks", "measure"]

_FACTS = 1_000
_ROUNDS = 3
_MEGABYTE = 1_000_000


def measure(uri: str | None = None, password: str = PASSWORD, size: Size | None = None) -> dict[str, Any]:
    size = size or Size()
    corpus_id = new_id()
    with _server(uri) as address, _database(address, password) as database:
        database.check()
        began = time.perf_counter()
        write(database, corpus_id, size)
        report: dict[str, Any] = {"edges": size.edges, "write_seconds": time.perf_counter() - began}
        try:
            for name in ("first", "again"):  # the first time the server's cache is cold
                report[name] = _in_a_new_process(address, password, corpus_id)
            report["changes"] = asyncio.run(_followed(database, corpus_id, size))
        finally:
            remove(database, corpus_id)
    return report


def checks(report: Mapping[str, Any]) -> list[Check]:
    first, again = report["first"], report["again"]
    return [
        at_most("snapshot of 1 million edges from Neo4j: s", max(first["seconds"], again["seconds"]), 60),
        at_most("snapshot of 1 million edges: MB of extra memory", max(first["extra_mb"], again["extra_mb"]), 1_000),
        at_most("1,000 facts more: s until a search may see them", max(r["seconds"] for r in report["changes"]), 5),
        figure("snapshot of 1 million edges: s of it in our process", again["processor_seconds"]),
    ]


async def read(uri: str, password: str, corpus_id: str) -> dict[str, Any]:
    """Seconds and the peak of memory above what the process has before."""
    with _database(uri, password) as database:
        graph = Neo4jGraphSource(database)
        await graph.generation(corpus_id)
        before = _resident()
        began, worked = time.perf_counter(), time.process_time()
        generation, rows = await graph.graph(corpus_id)
        received = time.perf_counter() - began
        snapshot = build_snapshot(generation, rows)
        return {
            "seconds": time.perf_counter() - began,
            "receive_seconds": received,
            "processor_seconds": time.process_time() - worked,
            "extra_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / _MEGABYTE,
            "nodes": snapshot.whole.adjacency.size,
        }


async def _followed(database: Neo4jDatabase, corpus_id: str, size: Size) -> list[dict[str, Any]]:
    """Seconds from a commit to its facts in the snapshot that searches get."""
    cache = SnapshotCache(Neo4jGraphSource(database), wait_seconds=60)
    await cache.get(corpus_id)
    found = []
    for number in range(_ROUNDS):
        held = len((await cache.get(corpus_id)).flat().columns.facts)
        generation = await asyncio.to_thread(add_facts, database, corpus_id, size, _FACTS, number)
        began = time.perf_counter()
        snapshot = await cache.get(corpus_id, min_generation=generation)
        seen = len(snapshot.flat().columns.facts) - held
        found.append({"seconds": time.perf_counter() - began if seen == _FACTS else float("inf"), "facts": seen})
    return found


def _in_a_new_process(uri: str, password: str, corpus_id: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.snapshots", "--uri", uri, "--corpus", corpus_id]
    environment = {**os.environ, "NEO4J_PASSWORD": password}
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text("utf-8").split()[1]) * resource.getpagesize()


@contextmanager
def _server(uri: str | None) -> Iterator[str]:
    if uri is not None:
        yield uri
        return
    with tempfile.TemporaryDirectory(prefix="hopweave-snapshots-") as folder:
        port, http_port = free_ports(2)
        server = Neo4jServer(Path(folder) / "neo4j", port=port, http_port=http_port)
        server.start()
        try:
            yield server.uri
        finally:
            server.stop()


@contextmanager
def _database(uri: str, password: str) -> Iterator[Neo4jDatabase]:
    connection = Connection(uri, USER, password, "neo4j")
    try:
        yield Neo4jDatabase(connection)
    finally:
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.snapshots")
    parser.add_argument("--uri", help="of a server that runs; else one is started")
    parser.add_argument("--password", default=os.environ.get("NEO4J_PASSWORD", PASSWORD))
    parser.add_argument("--corpus", help="the id of a corpus that is there, to be read only")
    arguments = parser.parse_args()
    if arguments.corpus:
        report = asyncio.run(read(arguments.uri, arguments.password, arguments.corpus))
    else:
        report = measure(arguments.uri, arguments.password)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
