"""A server is killed while it answers a question in the background; another one on the same folder says so."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS
from tests.servers.ports import free_ports
from tests.twins.chat_server import ChatServer, Reply
from tests.waiting import wait_until

_PATH = "/v1/corpora/c/questions"
_QUESTION = {"question": "Who wrote the first program?", "reasoner": "vanilla"}
Start = Callable[[int, int], tuple["subprocess.Popen[bytes]", httpx.Client]]


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(respond=lambda _: Reply(stall=True)) as server:
        yield server


@pytest.fixture
def start(tmp_path: Path, chat: ChatServer) -> Iterator[Start]:
    """Starts a server on the folder of the test with this lease of questions, and waits until it is ready."""
    started: list[subprocess.Popen[bytes]] = []
    clients: list[httpx.Client] = []

    def run(port: int, lease_seconds: int) -> tuple["subprocess.Popen[bytes]", httpx.Client]:
        environment["HOPWEAVE_QUESTIONS__LEASE_SECONDS"] = str(lease_seconds)
        with (tmp_path / f"serve-{len(started)}.log").open("wb") as log:
            server = subprocess.Popen([HOPWEAVE, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log)
        started.append(server)
        wait_until(lambda: b"Uvicorn running" in Path(log.name).read_bytes())
        clients.append(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_SECONDS))
        return server, clients[-1]

    with embedding_endpoint(dimension=16):
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HOPWEAVE_DATA_DIR": str(tmp_path / "data"),
            "HOPWEAVE_LLM__BASE_URL": chat.url,
            "HOPWEAVE_LLM__MODEL": "twin",
        }
        yield run
        for client in clients:
            client.close()
        for server in started:
            server.terminate()
            server.wait(PATIENCE_SECONDS)


@pytest.mark.slow
def test_a_question_of_a_killed_server_has_failed_for_every_reader(start: Start, chat: ChatServer) -> None:
    one, two = free_ports(2)
    first, client = start(one, 2)
    _, other = start(two, 60)  # a busy machine does not renew a short lease in time
    assert client.post("/v1/corpora", json={"name": "c"}).status_code == 201
    documents = [{"key": "a", "text": "Ada Lovelace wrote the first program."}]
    job = client.post("/v1/corpora/c/documents", json={"documents": documents}).json()["job"]["id"]
    wait_until(lambda: client.get(f"/v1/jobs/{job}").json()["state"] == "done")
    id = client.post(_PATH, json=_QUESTION).json()["id"]
    wait_until(lambda: chat.calls)
    with other.stream("GET", f"{_PATH}/{id}/events") as stream:
        first.kill()
        lines = [line for line in stream.iter_lines() if line.startswith(("event", "data"))]
    assert lines[-2] == "event: error"
    assert json.loads(lines[-1].removeprefix("data: "))["detail"].startswith("the server ended while")
    found = other.get(f"{_PATH}/{id}").json()
    assert (found["state"], found["problem"]["status"]) == ("failed", 503)
    chat.respond = lambda _: Reply.json({"answer": "Ada Lovelace [1].", "support": "stated", "unstated": ""})
    again = other.post(f"{_PATH}/{id}/again").json()
    assert "event: answer" in other.get(f"{_PATH}/{again['id']}/events").text
