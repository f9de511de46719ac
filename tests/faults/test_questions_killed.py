"""A server is killed while it answers a question in the background; another one on the same folder says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import Served, serving
from tests.twins.chat_server import ChatServer, Reply
from tests.waiting import wait_until

_PATH = "/v1/corpora/c/questions"
_QUESTION = {"question": "Who wrote the first program?", "reasoner": "vanilla"}


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(respond=lambda _: Reply(stall=True)) as server:
        yield server


@pytest.mark.slow
def test_a_question_of_a_killed_server_has_failed_for_every_reader(tmp_path: Path, chat: ChatServer) -> None:
    llm = {"LLM__BASE_URL": chat.url, "LLM__MODEL": "twin"}
    with (
        embedding_endpoint(dimension=16),
        serving(tmp_path, log="first.log", QUESTIONS__LEASE_SECONDS=2, **llm) as first,
        # a busy machine does not renew a short lease in time
        serving(tmp_path, log="second.log", QUESTIONS__LEASE_SECONDS=60, **llm) as second,
    ):
        _ask_and_kill(first, second.client, chat)


def _ask_and_kill(first: Served, other: httpx.Client, chat: ChatServer) -> None:
    client = first.client
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
