"""`hopweave worker`, `serve` and `ingest` over real servers, as processes of their own: how they come, go and die."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.milvus_lite_server import MilvusLiteServer
from tests.servers.neo4j_server import Neo4jServer
from tests.servers.ports import free_ports
from tests.servers.redis_server import RedisServer
from tests.shared_workers import until
from tests.twins.embedding_server import EmbeddingServer

pytestmark = [pytest.mark.servers, pytest.mark.slow]

HOPWEAVE = Path(sys.executable).with_name("hopweave")
PATIENCE_SECONDS = 240.0
DOCUMENTS = 100
Environment = dict[str, str]


@pytest.fixture(scope="module")
def embeddings() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def environment(
    tmp_path: Path,
    own_neo4j: Neo4jServer,
    own_milvus_lite: MilvusLiteServer,
    own_redis: RedisServer,
    embeddings: EmbeddingServer,
) -> Environment:
    ours = {
        "DATA_DIR": str(tmp_path / "scratch"),
        "STORE__RECORD": "neo4j",
        "STORE__TEXT": "neo4j",
        "STORE__VECTORS": "milvus",
        "NEO4J__URI": own_neo4j.uri,
        "NEO4J__PASSWORD": own_neo4j.password,
        "MILVUS__URI": own_milvus_lite.uri,
        "BROKER__URL": own_redis.url,
        "FILES__URL": str(tmp_path / "originals"),
        "WORKER__BATCH_BYTES": "1000",
        "WORKER__LEASE_SECONDS": "5",
        "WORKER__RENEW_SECONDS": "1",
        "WORKER__SWEEP_SECONDS": "1",
    }
    return {**os.environ, **embeddings.environment, **{f"HOPWEAVE_{name}": value for name, value in ours.items()}}


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    file = tmp_path / "papers.jsonl"
    rows = ({"key": str(n), "text": f"Person Number{n} lived in Town{n % 7}."} for n in range(DOCUMENTS))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


class Command:
    """A process of `hopweave`, and what it says on stderr."""

    def __init__(self, environment: Environment, log: Path, *words: object) -> None:
        self._log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [HOPWEAVE, *map(str, words)], env=environment, stdout=subprocess.PIPE, stderr=errors
            )

    def said(self) -> str:
        return self._log.read_text("utf-8")

    def ready(self, workers: int) -> None:
        until(lambda: self.said().count("is ready") >= workers, "its workers are ready")

    def end(self, *signals: signal.Signals) -> int:
        for number in signals:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)

    def output(self) -> Any:
        out, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        assert self.process.returncode == 0, self.said()
        return json.loads(out)


Start = Callable[..., Command]


@pytest.fixture
def start(environment: Environment, tmp_path: Path) -> Iterator[Start]:
    """Starts `hopweave WORDS…`, with settings of its own if need be; nothing of it is left at the end."""
    commands: list[Command] = []

    def start(*words: object, **settings: str) -> Command:
        log = tmp_path / f"{words[0]}-{len(commands)}.log"
        ours = {f"HOPWEAVE_{name}": value for name, value in settings.items()}
        commands.append(Command({**environment, **ours}, log, *words))
        return commands[-1]

    yield start
    for command in commands:
        if command.process.poll() is None:
            command.end(signal.SIGTERM, signal.SIGTERM)
        if command.process.stdout:
            command.process.stdout.close()


def children(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()))


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_an_ingest_waits_for_workers_and_says_so(start: Start, papers: Path) -> None:
    ingest = start("ingest", papers, "-c", "waiting", "--json")
    until(lambda: "no worker has begun: start one with `hopweave worker`" in ingest.said(), "it says what is missing")
    workers = [start("worker"), start("worker")]  # side by side on one host
    assert ingest.output()["documents"]["indexed"] == DOCUMENTS
    assert ingest.said().count("no worker has begun") == 1
    assert [worker.end(signal.SIGTERM) for worker in workers] == [0, 0]


def test_a_child_that_is_killed_is_replaced(start: Start, papers: Path) -> None:
    worker = start("worker")
    worker.ready(1)
    [first] = children(worker.process.pid)
    ingest = start("ingest", papers, "-c", "killed", "--json")
    until(lambda: "indexing" in ingest.said() or ingest.process.poll() is not None, "it is under way")
    os.kill(first, signal.SIGKILL)
    worker.ready(2)
    assert first not in children(worker.process.pid)
    assert ingest.output()["documents"]["indexed"] == DOCUMENTS
    assert "signal 9" in worker.said()
    assert worker.end(signal.SIGINT) == 0


def test_children_end_with_their_parent(start: Start) -> None:
    worker = start("worker", "--concurrency", 2)
    worker.ready(2)
    pids = children(worker.process.pid)
    assert len(pids) == 2
    worker.end(signal.SIGKILL)
    until(lambda: all(map(is_gone, pids)), "the children are gone")


def test_a_worker_told_to_stop_leaves_the_rest_to_others(
    start: Start, papers: Path, embeddings: EmbeddingServer
) -> None:
    leaving = start("worker", WORKER__LEASE_SECONDS="600", WORKER__BATCH_BYTES="100000")
    leaving.ready(1)
    before = len(embeddings.calls)
    ingest = start("ingest", papers, "-c", "left", "--json")
    until(lambda: len(embeddings.calls) > before, "it is at work")
    assert leaving.end(signal.SIGTERM) == 0
    staying = start("worker")
    assert ingest.output()["documents"]["indexed"] == DOCUMENTS, "long before a lease of ten minutes ends"
    assert staying.end(signal.SIGTERM) == 0


def test_a_second_signal_ends_it_at_once(start: Start) -> None:
    worker = start("worker")
    worker.ready(1)
    [child] = children(worker.process.pid)
    os.kill(child, signal.SIGSTOP)  # so that it cannot end in peace
    worker.process.send_signal(signal.SIGTERM)
    until(lambda: "finishing what is being written" in worker.said(), "it was heard")
    assert worker.end(signal.SIGTERM) == 1
    assert is_gone(child)


def test_a_server_that_refuses_us_is_told_at_once(start: Start) -> None:
    for words in (["worker"], ["serve", "--port", free_ports(1)[0]]):
        command = start(*words, NEO4J__PASSWORD="wrong-and-secret")  # noqa: S106 - it is wrong
        assert command.end() == 1
        assert "HOPWEAVE_NEO4J__PASSWORD" in command.said().splitlines()[-1]
        assert "wrong-and-secret" not in command.said()
        assert "Traceback" not in command.said()


def test_serve_answers_without_a_worker_of_its_own(start: Start, tmp_path: Path, own_redis: RedisServer) -> None:
    """It starts while the broker is away, and is whole again without being started anew."""
    own_redis.stop()
    port = free_ports(1)[0]
    serve = start("serve", "--port", port)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        until(lambda: _status(client) == "degraded", "it answers")
        assert not children(serve.process.pid)
        assert not (tmp_path / "scratch" / "worker.lock").exists()
        body = {"name": "served"}
        assert client.post("/v1/corpora", json=body).status_code == 201
        documents = {"documents": [{"key": "ada", "text": "Ada Lovelace wrote the first program."}]}
        began = time.monotonic()
        queued = client.post("/v1/corpora/served/documents", json=documents)
        assert queued.status_code == 202
        assert time.monotonic() - began < 10, "it does not wait for the broker"
        own_redis.start()
        until(lambda: _status(client) == "ok", "it has recovered")
        worker = start("worker")
        job = queued.headers["location"]
        until(lambda: client.get(job).json()["state"] == "done", "the work began by itself")
        assert worker.end(signal.SIGTERM) == 0
    assert serve.end(signal.SIGTERM) == 0


def _status(client: httpx.Client) -> str:
    try:
        return str(client.get("/readyz").json()["status"])
    except httpx.ConnectError:
        return "not listening yet"


def test_outages_longer_than_a_worker_tries(
    start: Start, papers: Path, own_neo4j: Neo4jServer, own_milvus_lite: MilvusLiteServer
) -> None:
    """It gives up what it holds, and finds it again when the store is back: the record, and then the vectors."""
    worker = start("worker", WORKER__RETRY_MINUTES="0")
    worker.ready(1)
    [child] = children(worker.process.pid)
    for name, server in (("record", own_neo4j), ("vectors", own_milvus_lite)):
        ingest = start("ingest", papers, "-c", f"away-{name}", "--json")
        until(lambda: "indexing" in ingest.said() or ingest.process.poll() is not None, "it is under way")  # noqa: B023 - asked only now
        warnings = worker.said().count(" warning ")
        server.kill()
        try:
            until(
                lambda: worker.said().count(" warning ") > warnings or ingest.process.poll() is not None,  # noqa: B023 - likewise
                "it is missed",
            )
        finally:
            server.start()
        assert ingest.output()["documents"]["indexed"] == DOCUMENTS
    assert children(worker.process.pid) == {child}, "the same process"
    assert worker.end(signal.SIGTERM) == 0
