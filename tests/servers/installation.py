"""A whole installation on private servers, for tests and measurements that start workers, or kill servers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.install import require
from tests.servers.milvus_server import MilvusServer
from tests.servers.neo4j_server import PASSWORD, Neo4jServer
from tests.servers.ports import free_ports
from tests.servers.reaper import Reaper
from tests.servers.redis_server import RedisServer
from tests.servers.server import Server

__all__ = ["Installation", "configured", "installation"]

HOPWEAVE = Path(sys.executable).with_name("hopweave")
_STOPPED_SECONDS = 90


@dataclass(kw_only=True)
class Installation:
    """`environment` is what any process of Hopweave needs to use it. Workers end with the installation."""

    folder: Path
    neo4j: Neo4jServer
    milvus: MilvusServer
    redis: RedisServer
    more: Mapping[str, str] = field(default_factory=dict)
    _workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, str]:
        return {
            "HF_HUB_OFFLINE": "1",
            "HOPWEAVE_DATA_DIR": str(self.folder / "data"),
            "HOPWEAVE_STORE__RECORD": "neo4j",
            "HOPWEAVE_STORE__VECTORS": "milvus",
            "HOPWEAVE_STORE__TEXT": "neo4j",
            "HOPWEAVE_NEO4J__URI": self.neo4j.uri,
            "HOPWEAVE_NEO4J__PASSWORD": PASSWORD,
            "HOPWEAVE_MILVUS__URI": self.milvus.uri,
            "HOPWEAVE_BROKER__URL": self.redis.url,
            "HOPWEAVE_FILES__URL": str(self.folder / "originals"),
            **self.more,
        }

    @property
    def servers(self) -> tuple[Server, Server, Server]:
        return self.neo4j, self.milvus, self.redis

    def start_worker(self, concurrency: int = 1) -> subprocess.Popen[bytes]:
        """`hopweave worker`; what it says goes to `worker.log` in the folder."""
        with (self.folder / "worker.log").open("ab") as log:
            worker = subprocess.Popen(
                [HOPWEAVE, "worker", "--concurrency", str(concurrency)],
                env={**os.environ, **self.settings},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._workers.append(worker)
        return worker

    def stop_workers(self) -> None:
        for worker in self._workers:
            worker.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOPPED_SECONDS
        for worker in self._workers:
            try:
                worker.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
        self._workers.clear()


@contextmanager
def installation(
    folder: Path, more: Mapping[str, str] | None = None, heap: str = "1g", *, short_lived: bool = False
) -> Iterator[Installation]:
    """Empty servers of its own on free ports; all of it is gone at the end, also where this process is killed.

    `short_lived`: servers that are started and killed rather than measured.
    """
    ports = free_ports(4)
    neo4j = Neo4jServer(
        folder / "neo4j" / "home", port=ports[0], http_port=ports[1], heap=heap, short_lived=short_lived
    )
    made = Installation(
        folder=folder,
        neo4j=neo4j,
        milvus=MilvusServer(folder / "milvus" / "home", port=ports[2], session_seconds=10 if short_lived else 30),
        redis=RedisServer(folder / "redis" / "home", port=ports[3]),
        more=more or {},
    )
    with Reaper() as reaper, ExitStack() as stack:
        for server in made.servers:
            require(server.name)
            reaper.watch(server.pid_file)
            stack.callback(server.stop, patience=0)
        with ThreadPoolExecutor() as side_by_side:
            list(side_by_side.map(lambda server: server.start(), made.servers))
        stack.callback(made.stop_workers)
        yield made


@contextmanager
def configured(settings: Mapping[str, str]) -> Iterator[None]:
    """The environment of this process, as a process of the installation has it."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
