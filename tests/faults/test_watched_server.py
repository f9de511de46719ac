"""`hopweave serve` as an operator sees it: its logs, metrics and connections, and how it ends."""

import contextlib
import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from cli.local_server import find_server
from core.settings import Settings
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS, Served, serving
from tests.twins.chat_server import ChatServer, Reply
from tests.waiting import finish_job, wait_until

_TEXT = "Ada Lovelace wrote the first program in London."
_QUESTION = "Who wrote the first program?"
_DRAIN_SECONDS = 2
_LEEWAY_SECONDS = 5
_CLAIMED = {"X-Forwarded-For": "203.0.113.9"}


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server with settings, and waits until it is ready. It may open `files` files."""
    with embedding_endpoint(dimension=16), contextlib.ExitStack() as stack:

        def start(*arguments: str, files: int | None = None, **settings: object) -> Served:
            limit = [] if files is None else ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh"]
            return stack.enter_context(serving(tmp_path, *arguments, start=[*limit, HOPWEAVE], **settings))

        yield start


def index(server: Served, *documents: object, request_id: str = "index") -> str:
    """Returns the id of the job, when it has ended."""
    headers = {"X-Request-ID": request_id}
    answer = server.client.post("/v1/corpora/c/documents", json={"documents": documents}, headers=headers)
    assert answer.status_code == 202, answer.text
    job: str = answer.json()["job"]["id"]
    finish_job(server.client, f"/v1/jobs/{job}")
    return job


def read_worker_log(server: Served) -> str:
    return (server.file.parent / "data" / "worker.log").read_text("utf-8")


def test_logs_tell_what_happened_and_nothing_that_was_said(serve: Serve) -> None:
    server = serve(LOG__FORMAT="json")
    server.client.post("/v1/corpora", json={"name": "c"})
    job = index(server, {"key": "ada", "text": _TEXT}, request_id="ingest-1")
    server.client.post("/v1/corpora/c/ask", json={"question": _QUESTION}, headers={"X-Request-ID": "ask-1"})
    server.client.get("/v1/corpora/c/entities", params={"query": "Ada Lovelace"})
    told = [json.loads(line) for line in read_worker_log(server).splitlines()]
    ours = {one["event"]: one for one in told if one.get("request_id") == "ingest-1"}
    assert {"claimed", "document indexed"} <= set(ours)
    assert ours["document indexed"]["job"] == job
    assert ours["document indexed"]["seconds"] >= 0
    lines = [json.loads(line) for line in server.log.splitlines()]
    asked = next(one for one in lines if one.get("request_id") == "ask-1" and one["event"] == "request")
    assert (asked["path"], asked["status"]) == ("/v1/corpora/c/ask", 200), lines
    assert asked["seconds"] > 0
    assert [one["event"] for one in lines].count(f"Started server process [{lines[0]['pid']}]") == 1
    assert not [one for one in lines if one.get("path") == "/readyz"], "who waits for readiness asks all the time"
    connection = find_server(Settings(data_dir=server.file.parent / "data"))
    assert connection is not None
    assert connection.find_address() == f"http://127.0.0.1:{server.port}"
    connection.close()
    readable = [one for one in (server.file.parent / "data").rglob("*") if one.stat().st_mode & 0o077]
    assert readable == [], "the data are for this user alone"
    for private in (_TEXT, _QUESTION, "Lovelace"):
        assert private not in server.log + read_worker_log(server)


def test_all_processes_get_connections_and_metrics_are_those_of_all(serve: Serve) -> None:
    server = serve("--workers", "2")
    server.client.post("/v1/corpora", json={"name": "c"})
    for _ in range(20):  # each on a connection of its own, which any process may accept
        httpx.get(f"http://127.0.0.1:{server.port}/v1/strategies", timeout=PATIENCE_SECONDS)
    told = server.client.get("/metrics").text
    assert 'hopweave_http_request_seconds_count{route="/v1/strategies",status="200"} 20.0' in told
    assert 'hopweave_http_request_seconds_count{route="/v1/corpora",status="201"} 1.0' in told
    if sys.platform == "linux":  # other systems do not divide connections
        _check_that_all_get_connections(server)


def _check_that_all_get_connections(server: Served) -> None:
    """With one socket for all, the process that woke first took nearly all connections that came together."""
    before = _count_sockets(server.process.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS))
        wait_until(lambda: sum(_count_sockets(server.process.pid).values()) >= sum(before.values()) + 64)
        after = _count_sockets(server.process.pid)
    assert sum(after[pid] - before[pid] >= 8 for pid in before) == 2


def _count_sockets(server: int) -> dict[int, int]:
    """Returns the number of sockets of each process that the server has started."""
    children = [path.read_text().split() for path in Path(f"/proc/{server}/task").glob("*/children")]
    folders = {int(pid): Path(f"/proc/{pid}/fd") for found in children for pid in found}
    return {pid: sum("socket:" in str(file.readlink()) for file in folder.iterdir()) for pid, folder in folders.items()}


def test_idle_connections_beyond_the_limit_of_files_harm_nobody(serve: Serve) -> None:
    """Without a limit of connections, the log grew by a megabyte a second, and nobody was answered."""
    server = serve(files=300)
    with contextlib.ExitStack() as idle:
        for _ in range(400):
            idle.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS))
        assert httpx.get(f"http://127.0.0.1:{server.port}/healthz", timeout=PATIENCE_SECONDS).status_code == 200
    assert len(server.log) < 100_000
    assert "cannot accept connections" not in server.log


def test_headers_without_end_are_refused_and_the_address_that_a_program_claims_is_not_believed(serve: Serve) -> None:
    server = serve()
    assert server.client.get("/v1/corpora", headers=_CLAIMED).status_code == 200
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * 10_000_000)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
    assert _is_healthy(server.port)


def test_a_connection_that_sends_no_request_is_closed(serve: Serve) -> None:
    server = serve(API__HEADER_SECONDS=0.5)
    for sent in (b"", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(sent)
            assert connection.recv(1) == b""


def _is_healthy(port: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE_SECONDS).status_code == 200


def _ask_without_reading(port: int, requests: int) -> socket.socket:
    """Returns a connection with a small window that has sent many requests and reads nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.settimeout(PATIENCE_SECONDS)
    connection.connect(("127.0.0.1", port))
    connection.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        connection.send(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * requests)
    return connection


def test_clients_that_read_nothing_keep_nobody_out(serve: Serve) -> None:
    server = serve(API__MAX_CONNECTIONS=20, API__HEADER_SECONDS=600, API__WRITE_SECONDS=600)
    assert server.client.get("/openapi.json").status_code == 200
    with contextlib.ExitStack() as stuck:
        for _ in range(60):
            stuck.enter_context(_ask_without_reading(server.port, 50))
        wait_until(lambda: _is_healthy(server.port))  # until then, the responses are made
        assert all(_is_healthy(server.port) for _ in range(30))


def _send_slowly(port: int, address: str) -> socket.socket:
    """Returns a connection that has begun a request, whose body does not come."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS, source_address=(address, 0))
    connection.sendall(
        b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    )
    return connection


def test_connections_of_one_address_leave_room_for_others(serve: Serve) -> None:
    server = serve(API__MAX_CONNECTIONS=40, API__MAX_CONNECTIONS_OF_ADDRESS=10, API__BODY_SECONDS=600)
    with contextlib.ExitStack() as slow:
        for _ in range(60):
            slow.enter_context(_send_slowly(server.port, "127.0.0.2"))
        for _ in range(20):
            assert httpx.get(f"http://127.0.0.1:{server.port}/v1/corpora", timeout=PATIENCE_SECONDS).status_code == 200
        with httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.2"), timeout=PATIENCE_SECONDS) as client:
            refused = client.get(f"http://127.0.0.1:{server.port}/v1/corpora")
            assert (refused.status_code, refused.text) == (503, "too many connections\n")


def test_health_is_told_when_all_connections_are_taken(serve: Serve) -> None:
    server = serve(API__MAX_CONNECTIONS=10, API__BODY_SECONDS=600)
    with contextlib.ExitStack() as slow:
        for _ in range(30):
            slow.enter_context(_send_slowly(server.port, "127.0.0.1"))
        wait_until(lambda: _is_healthy(server.port))
        for _ in range(20):
            assert _is_healthy(server.port)
            refused = httpx.get(f"http://127.0.0.1:{server.port}/v1/corpora", timeout=PATIENCE_SECONDS)
            assert refused.status_code == 503
    wait_until(lambda: server.client.get("/v1/corpora").status_code == 200)


def test_a_proxy_of_the_settings_is_believed_and_a_client_that_reads_nothing_is_cut_off(serve: Serve) -> None:
    server = serve(API__WRITE_SECONDS=1, API__PROXIES='["127.0.0.1"]')
    assert server.client.get("/v1/corpora", headers=_CLAIMED).status_code == 403
    with _ask_without_reading(server.port, 50) as connection:
        wait_until(lambda: _is_cut_off(connection))
    assert server.client.get("/healthz").status_code == 200


def _is_cut_off(connection: socket.socket) -> bool:
    """Whether the server has reset the connection, which is seen by writing."""
    try:
        connection.send(b"G")
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


def test_requests_are_finished_after_sigterm(serve: Serve) -> None:
    may_answer = threading.Event()
    with ChatServer(respond=lambda _: Reply(text="Answer: Ada [1]", until=may_answer.is_set)) as model:
        server = serve(LLM__BASE_URL=model.url, LLM__MODEL="m", LLM__CACHE="false")
        server.client.post("/v1/corpora", json={"name": "c"})
        index(server, {"key": "ada", "text": _TEXT})
        answers: list[httpx.Response] = []
        asking = threading.Thread(target=lambda: answers.append(_ask(server)))
        asking.start()
        wait_until(lambda: model.in_flight > 0)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "Shutting down" in server.log)
        may_answer.set()
        asking.join(PATIENCE_SECONDS)
        assert server.process.wait(PATIENCE_SECONDS) in {0, -signal.SIGTERM}
    [answer] = answers
    assert answer.status_code == 200
    assert "Ada" in answer.json()["answer"]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_takes_longer_than_the_drain_time_is_ended_and_handed_back(serve: Serve, processes: int) -> None:
    with ChatServer(respond=lambda _: Reply(stall=True)) as model:
        asked = {"LLM__BASE_URL": model.url, "LLM__MODEL": "m", "API__DRAIN_SECONDS": _DRAIN_SECONDS}
        server = serve("--workers", str(processes), **asked)
        server.client.post("/v1/corpora", json={"name": "c", "extractor": "llm"})
        sent = server.client.post("/v1/corpora/c/documents", json={"documents": [{"key": "ada", "text": _TEXT}]})
        wait_until(lambda: model.in_flight > 0)  # the worker's call
        asking = threading.Thread(target=lambda: _ask(server))
        asking.start()
        wait_until(lambda: len(model.calls) > 1 and model.in_flight > 1)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE_SECONDS)
        took = time.monotonic() - began
        asking.join(PATIENCE_SECONDS)
    assert took < _DRAIN_SECONDS + _LEEWAY_SECONDS
    assert "handed back" in read_worker_log(server)
    with ChatServer(respond=lambda _: Reply(text='{"entities": [], "triples": []}')) as model:
        again = serve(LLM__BASE_URL=model.url, LLM__MODEL="m")
        job = sent.json()["job"]["id"]
        finish_job(again.client, f"/v1/jobs/{job}")


def _ask(server: Served) -> httpx.Response:
    try:
        return httpx.post(
            f"http://127.0.0.1:{server.port}/v1/corpora/c/ask",
            json={"question": _QUESTION, "reasoner": "vanilla", "searcher": "sparse"},
            timeout=PATIENCE_SECONDS,
        )
    except httpx.TransportError:
        return httpx.Response(503)
