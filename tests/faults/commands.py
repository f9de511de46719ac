"""Commands and servers of Hopweave as processes over one data folder; an embedding endpoint in place of a model."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.servers.ports import free_ports
from tests.waiting import wait_until_ready

__all__ = ["HOPWEAVE", "PATIENCE_SECONDS", "Commands", "Served", "commands", "environment", "run", "serving"]

HOPWEAVE = Path(sys.executable).with_name("hopweave")
PATIENCE_SECONDS = 180

Commands = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(data: Path, **settings: object) -> dict[str, str]:
    """Returns that of a process on the folder `data`. `settings` are named without `HOPWEAVE_`."""
    named = {f"HOPWEAVE_{name}": str(value) for name, value in settings.items()}
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HOPWEAVE_DATA_DIR": str(data), **named}


def run(data: Path, folder: Path, *arguments: object, **settings: object) -> "subprocess.CompletedProcess[str]":
    """Runs `hopweave ARGUMENTS…` in `folder` until it ends."""
    command = [HOPWEAVE, *map(str, arguments)]
    return subprocess.run(
        command,
        env=environment(data, **settings),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@contextmanager
def commands(data: Path, folder: Path, **settings: object) -> Iterator[Commands]:
    """Yields `run` on these folders, beside an embedding endpoint."""
    with embedding_endpoint(dimension=16):
        yield partial(run, data, folder, **settings)


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server process with its port, the file of its log, and a client."""

    process: "subprocess.Popen[bytes]"
    port: int
    file: Path
    client: httpx.Client

    @property
    def log(self) -> str:
        return self.file.read_text("utf-8", errors="replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)


@contextmanager
def serving(
    folder: Path, *arguments: object, log: str = "serve.log", start: Sequence[object] = (HOPWEAVE,), **settings: object
) -> Iterator[Served]:
    """Runs a server on `folder / "data"` that is ready, until the end of the block, unless it is killed before."""
    [port] = free_ports(1)
    command = [*map(str, start), "serve", "--port", str(port), *map(str, arguments)]
    with (folder / log).open("wb") as output:
        process = subprocess.Popen(
            command, env=environment(folder / "data", **settings), cwd=folder, stdout=output, stderr=output
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_SECONDS) as client:
            wait_until_ready(client, process)
            yield Served(process=process, port=port, file=folder / log, client=client)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
