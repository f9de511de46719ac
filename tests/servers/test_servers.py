"""The servers themselves: each is started, killed, started again and stopped for real, on ports of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.__main__ import down, table, up, write_environment
from tests.servers.fixtures import RunOwn
from tests.servers.listeners import listeners
from tests.servers.milvus_lite_server import MilvusLiteServer
from tests.servers.milvus_server import MilvusServer
from tests.servers.neo4j_server import Neo4jServer
from tests.servers.ports import accepts
from tests.servers.process import Process, members
from tests.servers.rabbitmq_server import RabbitmqServer
from tests.servers.reaper import Reaper
from tests.servers.redis_server import RedisServer
from tests.servers.s3_server import S3Server
from tests.servers.server import ROOT, NotStarted, Server

pytestmark = pytest.mark.servers

SERVERS: list[type[Server]] = [
    *(RedisServer, RabbitmqServer, Neo4jServer),
    *(MilvusServer, MilvusLiteServer, S3Server),
]


@pytest.fixture(scope="module", params=SERVERS, ids=[server.name for server in SERVERS])
def kept(request: pytest.FixtureRequest, run_own: RunOwn) -> Iterator[Server]:
    server = run_own(request.param.on)
    yield server
    server.stop(patience=0)


@pytest.fixture
def server(kept: Server) -> Server:
    """It runs, whatever a test before did to it."""
    kept.start()
    return kept


def test_starting_what_runs_changes_nothing(server: Server) -> None:
    before = server.pid
    server.start()
    assert server.pid == before
    assert server.is_healthy()


def test_it_listens_on_loopback_only(server: Server) -> None:
    assert server.pid is not None
    addresses = listeners(process.pid for process in members(server.pid))
    assert {port for _, port in addresses} >= set(server.ports)
    assert {host for host, _ in addresses} - {"::1"} == {"127.0.0.1"}


def test_killed_it_is_down_and_starts_again(server: Server) -> None:
    killed = server.pid
    assert killed is not None
    server.kill()
    assert server.pid is None
    assert not server.is_healthy()
    assert members(killed) == []
    assert "down" in table([server])
    with pytest.raises(NotStarted, match="nothing to kill"):
        server.kill()
    server.start()
    assert server.pid not in {None, killed}
    assert server.is_healthy()


def test_another_that_wants_its_port_says_so(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.servers.server._CLOSING_SECONDS", 0.3)  # it would wait in vain
    other = type(server).on(tmp_path / "other", [*server.ports])
    with pytest.raises(NotStarted, match=f"something else listens on port {server.ports[0]}"):
        other.start()
    assert other.pid is None


def test_the_table_tells_the_truth_and_stopping_leaves_nothing(server: Server, tmp_path: Path) -> None:
    pid = server.pid
    assert pid is not None
    assert f"healthy  {pid}" in table([server])
    same = type(server).on(server.home, [*server.ports])  # another object, as another process would
    up([same])
    assert server.pid == same.pid == pid
    down([same])
    down([same])
    assert members(pid) == []
    assert not any(accepts(port) for port in server.ports)
    assert "down" in table([server])
    write_environment(tmp_path / "env", [server])
    assert not (tmp_path / "env").exists()


def test_two_milvus_run_side_by_side(run_own: RunOwn) -> None:
    one, other = run_own(MilvusServer.on), run_own(MilvusServer.on)
    assert one.is_healthy()
    assert other.is_healthy()
    one.kill()
    assert other.is_healthy()


def test_what_does_not_start_shows_its_log_and_leaves_nothing(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, port=70_000)
    with pytest.raises(NotStarted, match=r"ended\. The end of (?s:.*)between 0 and 65535"):
        server.start()
    assert server.pid is None


def test_a_pid_that_was_given_to_another_process_is_not_ours(run_own: RunOwn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.servers.server._CLOSING_SECONDS", 0.3)  # the port stays open
    server = run_own(RedisServer.on)
    running = Process.read(server.pid_file)
    assert running is not None
    sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        Process(pid=sleeper.pid, started=running.started).write(server.pid_file)
        assert server.pid is None
        server.stop()
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()
        running.write(server.pid_file)


def test_a_killed_test_run_leaves_no_server(run_own: RunOwn) -> None:
    """The reaper's input closes when the process that holds it is killed."""
    server = run_own(RedisServer.on)
    pid = server.pid
    assert pid is not None
    script = "import sys, tests.servers.test_servers as t; t.hold(sys.argv[1])"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(server.pid_file)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "watched\n"
        run.kill()
        run.stdout.read()  # the reaper holds it open until it is done
    assert members(pid) == []
    assert server.pid is None


def hold(pid_file: str) -> None:
    """What the killed test run does: it waits for ever with a reaper beside it."""
    reaper = Reaper().__enter__()
    reaper.watch(Path(pid_file))
    print("watched", flush=True)
    signal.pause()
