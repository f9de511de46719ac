"""Fixtures of real servers: shared ones that tests must not stop, and private ones that tests may kill.

The shared ones are for one test run at a time: tests empty Neo4j, and the run that started a server stops it. A run
that comes meanwhile, also of another checkout with the same `.servers`, starts servers of its own instead.

A server that cannot be started skips its tests, and fails them with `CI=true`. `HOPWEAVE_TEST_NEO4J_URI` and
`…_PASSWORD` (and so on: `tests/servers/addresses.py`) name an instance that runs elsewhere, to be the shared one.
Whatever a test run started ends with it, also when it is killed.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

import pytest

from tests.brokers import Broker, forget
from tests.servers.addresses import Address, MilvusAddress, Neo4jAddress, RedisAddress, S3Address, from_environment
from tests.servers.install import require
from tests.servers.milvus_lite_server import MilvusLiteServer
from tests.servers.milvus_server import MilvusServer
from tests.servers.neo4j_server import Neo4jServer
from tests.servers.ports import free_ports
from tests.servers.rabbitmq_server import RabbitmqServer
from tests.servers.reaper import Reaper
from tests.servers.redis_server import RedisServer
from tests.servers.s3_server import S3Server
from tests.servers.server import INSTALLED, NotStarted, Server

S = TypeVar("S", bound=Server)


class RunOwn(Protocol):
    """Starts the server that `make` builds from an empty home and three free ports."""

    def __call__(self, make: Callable[[Path, list[int]], S]) -> S: ...


@pytest.fixture(scope="session")
def _reaper() -> Iterator[Reaper]:
    with Reaper() as reaper:
        yield reaper


@pytest.fixture(scope="session")
def redis_server(request: pytest.FixtureRequest) -> Iterator[RedisAddress]:
    server = RedisServer(INSTALLED / "redis" / "home")
    yield from _elsewhere_or(request, server, lambda used: RedisAddress(url=used.url), RedisAddress)


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest) -> Iterator[Neo4jAddress]:
    server = Neo4jServer(INSTALLED / "neo4j" / "home", short_lived=True)
    address = lambda used: Neo4jAddress(uri=used.uri, browser=used.browser)  # noqa: E731
    yield from _elsewhere_or(request, server, address, Neo4jAddress)


@pytest.fixture(scope="session")
def milvus_server(request: pytest.FixtureRequest) -> Iterator[MilvusAddress]:
    server = MilvusServer(INSTALLED / "milvus" / "home")
    yield from _elsewhere_or(request, server, lambda used: MilvusAddress(uri=used.uri), MilvusAddress)


@pytest.fixture(scope="session")
def milvus_lite_server(request: pytest.FixtureRequest) -> Iterator[MilvusAddress]:
    server = MilvusLiteServer(INSTALLED / "milvus-lite" / "home")
    yield from _elsewhere_or(request, server, lambda used: MilvusAddress(uri=used.uri), MilvusAddress)


@pytest.fixture(scope="session")
def s3_server(request: pytest.FixtureRequest) -> Iterator[S3Address]:
    server = S3Server(INSTALLED / "s3" / "home")
    yield from _elsewhere_or(request, server, lambda used: S3Address(endpoint=used.endpoint), S3Address)


@pytest.fixture
def clean_neo4j(neo4j_server: Neo4jAddress) -> Neo4jAddress:
    """The shared Neo4j without a node, a constraint or an index, but for those of its own."""
    empty_neo4j(neo4j_server)
    return neo4j_server


@pytest.fixture(scope="module")
def run_own(tmp_path_factory: pytest.TempPathFactory, _reaper: Reaper) -> Iterator[RunOwn]:
    """For servers of a module's own, with options of its own; they may be killed, stopped and started again."""
    with _private(tmp_path_factory, _reaper) as run:
        yield run


@pytest.fixture(scope="module")
def own_redis(run_own: RunOwn) -> RedisServer:
    return run_own(RedisServer.on)


@pytest.fixture(scope="module")
def own_rabbitmq(run_own: RunOwn) -> RabbitmqServer:
    return run_own(RabbitmqServer.on)


@pytest.fixture(params=["redis", "rabbitmq"])
def broker(request: pytest.FixtureRequest, run_own: RunOwn) -> Iterator[Broker]:
    """One of the test's own in which nothing waits; where only one will do, the test is parametrised with its name."""
    if request.param == "redis":
        redis = run_own(RedisServer.on)
        yield redis
        redis.stop()
        return
    rabbitmq: RabbitmqServer = request.getfixturevalue("own_rabbitmq")  # seconds to start: it is used again
    rabbitmq.start()
    forget(rabbitmq)
    yield rabbitmq


@pytest.fixture(scope="session")
def _private_neo4j(tmp_path_factory: pytest.TempPathFactory, _reaper: Reaper) -> Iterator[Neo4jServer]:
    with _private(tmp_path_factory, _reaper) as run:
        yield run(Neo4jServer.on)


@pytest.fixture(scope="module")
def own_neo4j(_private_neo4j: Neo4jServer) -> Neo4jServer:
    """Empty, to be killed and stopped. Java takes so long to start that one module after the other has the same."""
    _private_neo4j.start()
    empty_neo4j(Neo4jAddress(uri=_private_neo4j.uri))
    return _private_neo4j


@pytest.fixture(scope="module")
def own_milvus(run_own: RunOwn) -> MilvusServer:
    return run_own(MilvusServer.on)


@pytest.fixture(scope="module")
def own_milvus_lite(run_own: RunOwn) -> MilvusLiteServer:
    return run_own(MilvusLiteServer.on)


@pytest.fixture(scope="module")
def own_s3(run_own: RunOwn) -> S3Server:
    return run_own(S3Server.on)


@contextmanager
def _private(folders: pytest.TempPathFactory, reaper: Reaper) -> Iterator[RunOwn]:
    started: list[Server] = []

    def run(make: Callable[[Path, list[int]], S]) -> S:
        server = make(folders.mktemp("server") / "home", free_ports(3))
        reaper.watch(server.pid_file)
        started.append(server)
        _start(server)
        return server

    yield run
    for server in started:
        server.stop(patience=0)


def empty_neo4j(address: Neo4jAddress) -> None:
    from neo4j import GraphDatabase

    with (
        GraphDatabase.driver(address.uri, auth=(address.user, address.password), connection_timeout=5) as driver,
        driver.session() as session,
    ):
        for row in session.run("SHOW CONSTRAINTS YIELD name").data():
            session.run("DROP CONSTRAINT $name", name=row["name"]).consume()
        for row in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").data():
            session.run("DROP INDEX $name", name=row["name"]).consume()
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()


def _elsewhere_or(
    request: pytest.FixtureRequest, server: S, address: Callable[[S], Address], kind: type[Address]
) -> Iterator[Address]:
    """The address that the environment names, or that of the shared instance."""
    if elsewhere := from_environment(kind, server.name.replace("-", "_").upper()):
        yield elsewhere
        return
    for used in _shared(request, server):
        yield address(used)


def _shared(request: pytest.FixtureRequest, server: S) -> Iterator[S]:
    """The shared instance, or one of this run's own while another run uses it. One that ran before is left running."""
    reaper: Reaper = request.getfixturevalue("_reaper")
    with _taken(server.home) as is_ours:
        if not is_ours:
            with _private(request.getfixturevalue("tmp_path_factory"), reaper) as run:
                yield run(type(server).on)
        elif server.pid is not None and server.is_healthy():
            yield server
        else:
            reaper.watch(server.pid_file)
            _start(server)
            yield server
            server.stop()


@contextmanager
def _taken(home: Path) -> Iterator[bool]:
    """Takes a shared instance for this run until the end of the block. Yields False if another run has it."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "tests.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _start(server: Server) -> None:
    try:
        require(server.name)
        server.start()
    except NotStarted as problem:
        _unavailable(str(problem))


def _unavailable(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
