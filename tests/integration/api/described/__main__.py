"""`make schemathesis`: long runs against `hopweave serve`, with a key and without; 100 examples for each operation."""

import argparse
import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.integration.api.conftest import ADA, BABBAGE, BEIDA
from tests.integration.api.described.runs import Coverage, Run, find_names
from tests.servers.ports import free_ports

_HOPWEAVE = Path(sys.executable).with_name("hopweave")
_SERVE = "from api.access import attempts; attempts.MOST = 1_000_000; from hopweave._start import run; run()"
"""`hopweave`, which takes any number of wrong keys: the checks of authentication show many."""
_START_SECONDS = 120


async def main() -> int:
    parser = argparse.ArgumentParser(prog="make schemathesis", description=__doc__)
    parser.add_argument("--examples", type=int, default=100, help="random requests for each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["with-key", "without-keys"], help="one of the two runs")
    given = parser.parse_args()
    failed = 0
    for with_key in (True, False):
        if given.only and (given.only == "with-key") != with_key:
            continue
        with TemporaryDirectory(prefix="hopweave-schemathesis-") as name:
            folder = Path(name)
            key = _make_key(folder) if with_key else ""
            async with _serving(folder) as address:
                names = await _prepare(address, key)
                run = Run(address=address, key=key, examples=given.examples, coverage=Coverage.ALL, seed=given.seed)
                status, output = await run(names, folder)
        print(f"{'with a key' if with_key else 'without keys'}:\n{output}")
        failed += status != 0
    return failed


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "HOPWEAVE_DATA_DIR": str(folder / "data"), "HF_HUB_OFFLINE": "1"}


def _make_key(folder: Path) -> str:
    command = [_HOPWEAVE, "keys", "create", "schemathesis", "--scope", "admin"]
    made = subprocess.run(command, env=_environment(folder), stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.splitlines()[0]


@asynccontextmanager
async def _serving(folder: Path) -> AsyncIterator[str]:
    """The address of a server of its own, with a worker."""
    [port] = free_ports(1)
    address = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        command = (sys.executable, "-c", _SERVE, "serve", "--port", str(port))
        process = await asyncio.create_subprocess_exec(*command, env=_environment(folder), stderr=log)
    try:
        await _wait_for(f"{address}/readyz")
        yield address
    finally:
        process.terminate()
        await process.wait()


async def _wait_for(address: str) -> None:
    async with asyncio.timeout(_START_SECONDS), httpx.AsyncClient() as client:
        while True:
            try:
                if (await client.get(address)).is_success:
                    return
            except httpx.TransportError:
                pass  # it does not listen yet
            await asyncio.sleep(0.2)


async def _prepare(address: str, key: str) -> dict[str, str]:
    """Ingests a small corpus, and returns the ids in it."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=_START_SECONDS) as client:
        (await client.post("/v1/corpora", json={"name": "people"})).raise_for_status()
        body = {"documents": [ADA, BABBAGE, BEIDA]}
        submitted = (await client.post("/v1/corpora/people/documents", json=body)).raise_for_status()
        await client.get(f"/v1/jobs/{submitted.json()['job']['id']}/events")  # until the job has ended
        return await find_names(client)


sys.exit(asyncio.run(main()))
