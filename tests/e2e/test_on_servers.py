"""The command line and HTTP over real servers, as installed: workers, questions, moving there and back."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.servers.addresses import MilvusAddress, Neo4jAddress, RedisAddress, S3Address
from tests.servers.installation import configured
from tests.servers.ports import free_ports
from tests.twins.embedding_server import EmbeddingServer
from tests.waiting import PATIENCE_SECONDS, finish_job, wait_until_ready

pytestmark = [pytest.mark.servers, pytest.mark.slow]

_HOPWEAVE = Path(sys.executable).with_name("hopweave")
_PASSAGES = Path(__file__).resolve().parents[2] / "examples" / "musique-small"

Environment = Mapping[str, str]


@pytest.fixture
def common() -> Iterator[Environment]:
    """With a model that is there at once; the built-in one has tests of its own."""
    with EmbeddingServer(dimension=256) as server:
        yield {
            "HF_HUB_OFFLINE": "1",
            **server.environment,
        }


@pytest.fixture
def embedded(common: Environment, tmp_path: Path) -> Environment:
    return {**common, "HOPWEAVE_DATA_DIR": str(tmp_path / "embedded")}


@pytest.fixture
def served(
    common: Environment,
    clean_neo4j: Neo4jAddress,
    milvus_server: MilvusAddress,
    redis_server: RedisAddress,
    s3_server: S3Address,
    tmp_path: Path,
) -> Environment:
    return {
        **common,
        **s3_server.environment_of_clients,
        "HOPWEAVE_DATA_DIR": str(tmp_path / "served"),
        "HOPWEAVE_STORE__RECORD": "neo4j",
        "HOPWEAVE_STORE__VECTORS": "milvus",
        "HOPWEAVE_STORE__TEXT": "neo4j",
        "HOPWEAVE_NEO4J__URI": clean_neo4j.uri,
        "HOPWEAVE_NEO4J__USER": clean_neo4j.user,
        "HOPWEAVE_NEO4J__PASSWORD": clean_neo4j.password,
        "HOPWEAVE_MILVUS__URI": milvus_server.uri,
        "HOPWEAVE_MILVUS__TOKEN": milvus_server.token,
        "HOPWEAVE_BROKER__URL": redis_server.url,
        "HOPWEAVE_FILES__URL": f"s3://{s3_server.bucket}/{tmp_path.name}",
    }


def test_documents_go_in_are_found_and_go_again(served: Environment, embedded: Environment, tmp_path: Path) -> None:
    with _running(served, "worker") as worker:
        done = _json(served, "ingest", _PASSAGES / "corpus.jsonl", "-c", "small", "--extractor", "pattern+given")
        assert done["documents"]["indexed"] == 99
        _answers(served)
        moved, back = tmp_path / "small.jsonl", tmp_path / "back.jsonl"
        _json(served, "export", "small", "--format", "jsonl", "-o", moved)
        _again(embedded, "ingest", moved, "-c", "small")
        _again(embedded, "export", "small", "--format", "jsonl", "-o", back)
        _again(served, "ingest", back, "-c", "again")
        _json(embedded, "backup", tmp_path / "all.backup")
        _json(served, "restore", tmp_path / "all.backup", "--as", "restored")
        exports = {name: _canonical(served, name) for name in ("small", "again", "restored")}
        assert {*exports.values()} == {_canonical(embedded, "small")}
        assert _json(served, "doctor")["healthy"]
        assert _json(served, "corpora", "delete", "small", "--yes")["job"]["state"] == "done"
        for name in ("again", "restored"):
            assert _again(served, "corpora", "delete", name, "--yes")["job"]["state"] == "done"
        assert _again(served, "doctor")["healthy"]
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE_SECONDS) == 0


def _ask_until_cited(client: httpx.Client, question: str, key: str) -> None:
    """Asks until the document is cited: a process that has searched sees rows of others in Milvus two seconds later."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        said = client.post("/v1/corpora/small/ask", json={"question": question}).json()
        if [citation["document"]["key"] for citation in said["citations"]][:1] == [key]:
            return
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


def _answers(served: Environment) -> None:
    found = _json(served, "search", "Who created the first rigorous definition of the integral?", "-c", "small")
    assert found["hits"][0]["document"]["title"] == "Riemann integral"
    said = _json(served, "ask", "Who created the Riemann integral?", "-c", "small")
    assert "Bernhard Riemann" in said["answer"]
    [port] = free_ports(1)
    with (
        _running(served, "serve", "--port", port) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        wait_until_ready(client, server)
        body = {"documents": [{"key": "tower", "text": "Gustave Eiffel built a tower in Paris."}]}
        queued = client.post("/v1/corpora/small/documents", json=body)
        assert queued.status_code == 202, queued.text
        assert finish_job(client, queued.headers["location"])["state"] == "done"
        _ask_until_cited(client, "Who built a tower in Paris?", "tower")
        removed = client.delete(f"/v1/corpora/small/documents/{queued.json()['documents'][0]['id']}")
        assert finish_job(client, removed.headers["location"])["state"] == "done"
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_SECONDS) == 0


@contextmanager
def _running(environment: Environment, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([_HOPWEAVE, *map(str, arguments)], env={**os.environ, **environment})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _json(environment: Environment, *arguments: object) -> Any:
    ran = subprocess.run(
        [_HOPWEAVE, *map(str, arguments), "--json"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)


def _again(environment: Environment, *arguments: object) -> Any:
    """In this process, what was run as it is installed before: to start takes each command seconds."""
    return json.loads(_output(environment, *arguments, "--json"))


def _canonical(environment: Environment, name: str) -> bytes:
    return _output(environment, "export", name, "--format", "jsonl", "--canonical")


def _output(environment: Environment, *arguments: object) -> bytes:
    with configured(environment):
        ran = CliRunner().invoke(app, list(map(str, arguments)))
    assert ran.exit_code == 0, ran.output
    return ran.stdout_bytes
