"""Attacks beside 32 honest clients: `python -m tests.benchmarks.hostile --datasets DIR [--seconds S] [--only NAME]…`.

With `--on-servers` on Neo4j, Milvus and Redis, else embedded.

For each attack: errors and p95 of searches of the honest clients beside it, compared with some seconds before and after
it; the longest wait of a request for health; and how much memory the server took more. Times are worth something
on an idle machine only.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most, describe, figure, markdown
from tests.benchmarks.hostile.attacks import ATTACKS, CORPUS
from tests.benchmarks.http import Server, running
from tests.benchmarks.operation.processes import memory_mb
from tests.benchmarks.workshop import Workshop, workshop, workshop_on_servers
from tests.servers.installation import configured
from tests.servers.ports import free_ports

_MUSIQUE = "musique-train-100"
_CLIENTS = 32
_PAUSE = 1.0
_MOST_WITHOUT = 30.0
"""Seconds without an attack, before and after each."""


@dataclass
class _Watched:
    """The longest wait for health, and the most memory of the server's processes, in megabytes."""

    waits: list[float] = field(default_factory=list)
    megabytes: float = 0.0
    failures: int = 0


def main() -> int:
    """Returns 1 if something that was measured is not reached."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.hostile")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--seconds", type=float, default=300.0, help="of each attack")
    parser.add_argument("--only", action="append", choices=list(ATTACKS), help="repeatable; else all")
    parser.add_argument("--on-servers", action="store_true", help="on Neo4j, Milvus and Redis")
    given = parser.parse_args()
    make = workshop_on_servers if given.on_servers else workshop
    checks = asyncio.run(_measure(make(), given.datasets / _MUSIQUE, given.only or list(ATTACKS), given.seconds))
    print(json.dumps(describe()), markdown(checks), sep="\n\n")
    return 0 if all(check.reached for check in checks) else 1


async def _measure(
    making: AbstractAsyncContextManager[Workshop], dataset: Path, names: list[str], seconds: float
) -> list[Check]:
    read = read_dataset(dataset)
    bodies = [json.dumps({"query": question.text, "k": 5}) for question in read.questions]
    [model_port] = free_ports(1)
    model = {"BASE_URL": f"http://127.0.0.1:{model_port}/v1", "MODEL": "hostile", "CACHE": "false"}
    checks: list[Check] = []
    async with making as shop:
        corpus, _ = await shop.ingest(read)
        with configured({f"HOPWEAVE_LLM__{name}": value for name, value in model.items()}), running(shop, 1) as server:
            path = f"/v1/corpora/{corpus.name}/search"
            url = f"http://127.0.0.1:{server.port}"
            async with httpx.AsyncClient(base_url=url) as client:
                (await client.post("/v1/corpora", json={"name": CORPUS})).raise_for_status()
                document = {"key": "ada", "text": "Ada Lovelace wrote the first program."}
                added = await client.post(f"/v1/corpora/{CORPUS}/documents", json={"documents": [document]})
                added.raise_for_status()
            _load(server, path, bodies, 10)  # warm
            for name in names:
                sys.stderr.write(f"{name} …\n")
                before = _load(server, path, bodies, min(seconds / 4, _MOST_WITHOUT))
                start = memory_mb(server.pid)
                with _watching(server) as watched, _attacking(name, server.port, model_port) as told:
                    beside = _load(server, path, bodies, seconds)
                after = _load(server, path, bodies, min(seconds / 4, _MOST_WITHOUT))
                checks += _judge(name, (before, beside, after), watched, start, told)
                sys.stderr.write(markdown(checks) + f"\n{told}\n")
    return checks


def _judge(
    name: str, loads: tuple[dict[str, Any], ...], watched: _Watched, start: float, told: dict[str, int]
) -> list[Check]:
    before, beside, after = loads
    without = statistics.mean([_p95(before), _p95(after)])
    faults = sum(count for status, count in told.items() if status.startswith("5") and status not in ("502", "503"))
    return [
        at_most(f"{name}: errors of {_CLIENTS} honest clients", beside["errors"], 0),
        at_most(f"{name}: their p95, times that without", _p95(beside) / without, 2.0),
        figure(f"{name}: their p95 without, ms", 1000 * without),
        at_most(f"{name}: longest wait for health, s", max(watched.waits), 1.0),
        at_most(f"{name}: health not told, times", watched.failures, 0),
        at_most(f"{name}: memory of the server, MB more", watched.megabytes - start, 300),
        at_most(f"{name}: answers of 5xx to the attacker, but 502 and 503", faults, 0),
    ]


def _p95(load: dict[str, Any]) -> float:
    latencies: list[float] = load["latencies"]
    return statistics.quantiles(latencies, n=20)[-1]


def _load(server: Server, path: str, bodies: list[str], seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.http_load", str(server.port), path, str(_CLIENTS)]
    done = subprocess.run(
        [*command, str(seconds), str(_PAUSE)], input="\n".join(bodies).encode(), stdout=subprocess.PIPE, check=True
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@contextmanager
def _attacking(name: str, port: int, model_port: int) -> Iterator[dict[str, int]]:
    """Yields what the attacker was answered, which is known afterwards."""
    told: dict[str, int] = {}
    command = [sys.executable, "-m", "tests.benchmarks.hostile.attacks", name, str(port), str(model_port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        time.sleep(2)
        yield told
        output, _ = process.communicate()
        told.update(json.loads(output))


@contextmanager
def _watching(server: Server) -> Iterator[_Watched]:
    """Asks for health ten times a second, on a new connection each time, as monitors do."""
    watched = _Watched()
    command = [sys.executable, "-m", "tests.benchmarks.hostile.monitor", str(server.port), str(server.pid)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield watched
        output, _ = process.communicate()
    report = json.loads(output)
    watched.waits, watched.failures = report["waits"], report["failures"]
    watched.megabytes = report["megabytes"]


if __name__ == "__main__":
    sys.exit(main())
