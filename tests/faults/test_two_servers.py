"""Two servers on one data folder: both answer, one worker works, and it is replaced when its server is killed."""

import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.supervision.folder_lock import is_held, read_holder
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS
from tests.servers.ports import free_ports
from tests.waiting import wait_until

Start = Callable[[int], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server, and waits until it is ready or has ended."""
    started = []

    def run(port: int) -> "subprocess.Popen[bytes]":
        with (tmp_path / f"serve-{len(started)}.log").open("wb") as log:
            server = subprocess.Popen([HOPWEAVE, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log)
        started.append(server)
        wait_until(lambda: server.poll() is not None or b"Uvicorn running" in Path(log.name).read_bytes())
        return server

    with embedding_endpoint(dimension=16):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HOPWEAVE_DATA_DIR": str(tmp_path / "data")}
        yield run
        for server in started:
            server.terminate()
            server.wait(PATIENCE_SECONDS)


def call(port: int, path: str, body: Any = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1{path}", content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - a server of this test
        return json.load(answer)


def index(port: int, key: str) -> None:
    documents = [{"key": key, "text": f"Ada Lovelace wrote {key} in London."}]
    job = call(port, "/corpora/c/documents", {"documents": documents})["job"]["id"]
    wait_until(lambda: call(port, f"/jobs/{job}")["state"] == "done")


@pytest.mark.slow
def test_two_servers_share_a_folder_and_its_worker(start: Start, tmp_path: Path) -> None:
    one, two = free_ports(2)
    first, second = start(one), start(two)
    assert (first.poll(), second.poll(), start(one).poll()) == (None, None, 1)
    [message] = (tmp_path / "serve-2.log").read_text(encoding="utf-8").splitlines()
    assert str(one) in message, "the port is taken"
    call(one, "/corpora", {"name": "c"})
    index(two, "letters")
    assert call(one, "/corpora/c/search", {"query": "Ada"})["hits"][0]["document"]["key"] == "letters"
    before = read_holder(tmp_path / "data")
    first.kill()
    first.wait()
    index(two, "notes")
    wait_until(lambda: is_held(tmp_path / "data"))
    after = read_holder(tmp_path / "data")
    assert before is not None
    assert after is not None
    assert len(call(two, "/corpora/c/documents")["data"]) == 2
