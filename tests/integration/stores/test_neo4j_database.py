"""A record at whose address another application, another program or no server is found, or that two processes use."""

import asyncio
import gc
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from neo4j import Driver

from core.documents import OnConflict
from core.errors import HopweaveError, InvalidSettings, Unavailable
from stores.neo4j import Connection, Neo4jRecord
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.schema import SCHEMA_VERSION, read_schema_version
from stores.neo4j.driver.transaction import Transaction
from testing.record import SETTINGS, revision
from tests.integration.stores.neo4j_databases import connection_to, driver_of
from tests.servers.addresses import Neo4jAddress
from tests.servers.neo4j_server import Neo4jServer

pytestmark = pytest.mark.servers

_NEWER = SCHEMA_VERSION + 1
_WRONG = "not-the-password"


@pytest.fixture
def driver(clean_neo4j: Neo4jAddress) -> Iterator[Driver]:
    with driver_of(clean_neo4j) as driver:
        yield driver


@pytest.fixture
async def record(clean_neo4j: Neo4jAddress) -> AsyncIterator[Neo4jRecord]:
    record = Neo4jRecord(connection_to(clean_neo4j))
    yield record
    await record.close()


async def refusal(record: Neo4jRecord) -> str:
    with pytest.raises(InvalidSettings) as caught:
        await record.corpora.create("books", SETTINGS)
    await record.close()
    return str(caught.value)


def contents(driver: Driver) -> tuple[list[list[str]], int]:
    """Returns the labels of all nodes, and the number of constraints and indexes except the server's own two."""
    labels = driver.execute_query("MATCH (n) RETURN labels(n) AS labels ORDER BY labels").records
    indexes = driver.execute_query("SHOW INDEXES YIELD type WHERE type <> 'LOOKUP'").records
    return [row["labels"] for row in labels], len(indexes)


# --- what is not ours


async def test_a_wrong_password_is_named_and_not_shown(neo4j_server: Neo4jAddress):
    said = await refusal(Neo4jRecord(connection_to(neo4j_server, password=_WRONG)))
    assert "HOPWEAVE_NEO4J__PASSWORD" in said
    assert neo4j_server.uri in said
    assert _WRONG not in said


async def test_an_unknown_database_is_named(neo4j_server: Neo4jAddress):
    said = await refusal(Neo4jRecord(connection_to(neo4j_server, database="nowhere")))
    assert "'nowhere'" in said
    assert "HOPWEAVE_NEO4J__DATABASE" in said


@pytest.mark.parametrize(
    "made", ["CREATE (:Person {name: 'Ada'})-[:KNOWS]->(:Person)", "CREATE ()", "CREATE (:Corpus)"]
)
async def test_another_applications_database_is_left_as_it_is(record: Neo4jRecord, driver: Driver, made: str):
    driver.execute_query(made)
    before = contents(driver)
    said = await refusal(record)
    assert "another application's data" in said
    assert (before[0][0] or ["no label"])[0] in said
    assert contents(driver) == before


async def test_a_newer_schema_is_left_as_it_is(record: Neo4jRecord, driver: Driver):
    driver.execute_query("CREATE (:HopweaveSchema {id: 'record', version: $version, jobs: 0})", version=_NEWER)
    before = contents(driver)
    assert f"has schema {_NEWER}, and this release reads {SCHEMA_VERSION}" in await refusal(record)
    assert contents(driver) == before


async def test_jobs_of_the_schema_before_they_kept_their_key_have_none(
    record: Neo4jRecord, clean_neo4j: Neo4jAddress, driver: Driver
):
    corpus = await record.corpora.create("people", SETTINGS)
    old = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
    driver.execute_query("MATCH (s:HopweaveSchema) SET s.version = 5")
    later = Neo4jRecord(connection_to(clean_neo4j))
    new = (await later.for_key("k").submissions.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)).job
    assert [(job.id, job.submitted_by) for job in await later.jobs.list()] == [(new.id, "k"), (old.id, None)]
    await later.close()


async def test_reading_the_version_of_the_schema_writes_nothing(clean_neo4j: Neo4jAddress, driver: Driver):
    connection = connection_to(clean_neo4j)
    database = Neo4jDatabase(connection)
    assert read_schema_version(connection) is None
    assert contents(driver) == ([], 0)
    database.check()
    assert read_schema_version(connection) == SCHEMA_VERSION
    connection.close()


# --- nobody, or no Neo4j


@contextmanager
def listener(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """Starts a program that is no Neo4j, and yields its address."""
    kept: list[socket.socket] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                one, _ = server.accept()
            except OSError:
                return
            kept.append(one)
            answer(one)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"bolt://127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for one in (server, *kept):
            one.close()


_NO_NEO4J: dict[str, Callable[[socket.socket], object]] = {
    "silence": lambda _: None,
    "http": lambda one: one.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "noise": lambda one: one.sendall(bytes(range(256))),
    "silence after the handshake": lambda one: one.sendall(bytes([0, 0, 4, 5])),
    "hanging up": lambda one: one.shutdown(socket.SHUT_RDWR),
}


async def test_all_callers_are_soon_told_that_the_server_is_no_neo4j():
    for name, answer in _NO_NEO4J.items():
        with listener(answer) as uri:
            record = Neo4jRecord(Connection(uri, "neo4j", "some-password", "neo4j"))
            started = time.monotonic()
            results = await asyncio.gather(*(record.corpora.list() for _ in range(30)), return_exceptions=True)
            waited = time.monotonic() - started
            await record.close()
        for result in results:
            assert isinstance(result, Unavailable | InvalidSettings), name
            assert uri in str(result)
            assert "HOPWEAVE_NEO4J__URI" in str(result)
            assert "some-password" not in str(result)
        assert waited < 30, f"{name}: one after another, with two seconds each, they would take sixty"


async def test_an_invalid_address_is_refused():
    for uri in ("", "http://127.0.0.1:7474", "bolt://", "bolt://127.0.0.1:port", "127.0.0.1:7687"):
        said = await refusal(Neo4jRecord(Connection(uri, "neo4j", "some-password", "neo4j")))
        assert f"HOPWEAVE_NEO4J__URI is {uri!r}" in said


def test_a_call_that_lasts_ends_after_the_connection_is_closed_and_leaves_no_socket(neo4j_server: Neo4jAddress) -> None:
    connection = connection_to(neo4j_server)
    with connection.session() as session:
        connection.close()
        with pytest.raises(Unavailable, match="closed"):
            connection.server()
        assert session.run("RETURN 1 AS one").single(strict=True)["one"] == 1
    del connection, session
    gc.collect()  # which warns of an open socket, and a warning fails the test


async def test_a_closed_record_raises_an_error(record: Neo4jRecord):
    await record.check()
    await record.close()
    with pytest.raises(Unavailable, match="is closed"):
        await record.corpora.list()


async def test_a_record_works_again_after_the_server_is_back(own_neo4j: Neo4jServer):
    record = Neo4jRecord(connection_to(Neo4jAddress(uri=own_neo4j.uri)))
    never_connected = Neo4jRecord(connection_to(Neo4jAddress(uri=own_neo4j.uri)))
    corpus = await record.corpora.create("books", SETTINGS)
    own_neo4j.kill()
    for one in (record, never_connected):
        outcomes = await asyncio.gather(*(one.corpora.list() for _ in range(10)), return_exceptions=True)
        for outcome in outcomes:
            assert isinstance(outcome, Unavailable)
            assert own_neo4j.uri in str(outcome)
    await asyncio.to_thread(own_neo4j.start)
    for one in (record, never_connected):
        assert await one.corpora.list() == [corpus], "what was acknowledged is there"
        await one.close()


# --- itself, twice at once

_CREATE = """
import sys
from stores.neo4j import Connection
from stores.neo4j.driver.database import Neo4jDatabase

connection = Connection(sys.argv[1], "neo4j", sys.stdin.readline().strip(), "neo4j")
print("ready", flush=True)
sys.stdin.readline()
Neo4jDatabase(connection).check()
connection.close()
"""


async def test_two_processes_create_the_schema_at_the_same_time(clean_neo4j: Neo4jAddress, driver: Driver):
    pipe = asyncio.subprocess.PIPE
    root = Path(__file__).parents[3]
    children = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _CREATE, clean_neo4j.uri), stdin=pipe, stdout=pipe, stderr=pipe, cwd=root
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{clean_neo4j.password}\n".encode())
        assert await child.stdout.readline() == b"ready\n"
    ends = await asyncio.gather(*(child.communicate(b"go\n") for child in children))
    for child, (_, said) in zip(children, ends, strict=True):
        assert child.returncode == 0, said.decode()
    labels, indexes = contents(driver)
    assert labels == [["HopweaveSchema"]]
    assert indexes > 20


async def test_a_deadlock_is_retried(record: Neo4jRecord):
    database = record.database
    one = (await record.corpora.create("one", SETTINGS)).id
    two = (await record.corpora.create("two", SETTINGS)).id
    both_hold_one = threading.Barrier(2)
    tries: list[str] = []

    def work(first: str, second: str) -> Callable[[Transaction], str]:
        def crosswise(tx: Transaction) -> str:
            tx.lock(first)
            tries.append(first)
            if tries.count(first) == 1:
                both_hold_one.wait(30)
            return str(tx.lock(second)["name"])

        return crosswise

    writes = [database.write_unlocked(work(one, two)), database.write_unlocked(work(two, one))]
    assert await asyncio.gather(*writes) == ["two", "one"]
    assert len(tries) > 2, "one of them was begun again"


async def test_a_failed_transaction_is_rolled_back(record: Neo4jRecord):
    corpus = await record.corpora.create("books", SETTINGS)

    def work(tx: Transaction) -> None:
        tx.run("MATCH (c:Corpus {id: $id}) SET c.generation = 7", id=corpus.id)
        raise HopweaveError("no")

    with pytest.raises(HopweaveError, match="no"):
        await record.database.write(corpus.id, work)
    assert await record.corpora.get_by_id(corpus.id) == corpus


async def test_the_lock_serializes_writers(record: Neo4jRecord):
    """No writer overwrites a value that another one has written after it was read."""
    corpus = await record.corpora.create("books", SETTINGS)

    def count_up(tx: Transaction) -> None:
        before = tx.rows("MATCH (c:Corpus {id: $id}) RETURN c.generation AS n", id=corpus.id)[0]["n"]
        tx.run("MATCH (c:Corpus {id: $id}) SET c.generation = $n", id=corpus.id, n=before + 1)

    await asyncio.gather(*(record.database.write(corpus.id, count_up) for _ in range(20)))
    assert (await record.corpora.get_by_id(corpus.id)).generation == 20


async def test_a_job_that_ends_while_it_is_read_has_the_time_of_its_end(record: Neo4jRecord, driver: Driver) -> None:
    """Neo4j reads each property as it is then: the counts may be those of the end, and its time not there yet."""
    corpus = await record.corpora.create("books", SETTINGS)
    submitted = (await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
    await record.jobs.cancel(submitted.id)
    driver.execute_query("MATCH (j:Job) SET j.ended = j.finished_at REMOVE j.finished_at")

    def end() -> None:
        driver.execute_query("MATCH (j:Job) SET j.finished_at = j.ended")

    ending = threading.Timer(0.1, end)
    ending.start()
    job = await record.jobs.get(submitted.id)
    ending.join()
    assert job.state.final
    assert job.finished_at is not None
