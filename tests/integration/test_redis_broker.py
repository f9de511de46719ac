"""The doorbell on a real Redis: how often it rings, who hears it, and what becomes of it when Redis is away."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from api.main import create_app
from app import corpora, ingestion
from app.bell import TASK, Bell, broker_answer, make_celery
from app.container import Container
from core.documents import OnConflict
from core.errors import InvalidSettings, Unavailable
from core.settings import read_settings
from tests.servers.fixtures import RunOwn
from tests.servers.redis_server import RedisServer
from tests.shared_folder import environment
from tests.shared_workers import (
    at_work,
    finished,
    sentences,
    shared_container,
    shared_workers,
    until,
)

pytestmark = pytest.mark.servers

QUEUE = "hopweave"
CORPUS = "0" * 32
SECRET = "do-not-show-me"  # noqa: S105 - for a server of the test's own


@pytest.fixture
def redis(run_own: RunOwn) -> Iterator[RedisServer]:
    server = run_own(lambda home, ports: RedisServer(home, port=ports[0]))
    yield server
    server.stop()


@pytest.fixture
def folder(tmp_path: Path, redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No sweep in a test's time: what is done was rung for."""
    for name, value in environment(
        tmp_path, redis.url, WORKER__SWEEP_SECONDS="3600", WORKER__BATCH_BYTES="400", WORKER__TASK_SECONDS="2"
    ).items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
async def container(folder: Path) -> AsyncIterator[Container]:
    async with shared_container() as container:
        assert container.settings.data_dir == folder
        yield container


@pytest.fixture
async def client(container: Container) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=create_app(container=container))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


def messages(server: RedisServer) -> list[bytes]:
    with Redis.from_url(server.url) as redis:
        return redis.lrange(QUEUE, 0, -1)  # type: ignore[return-value] # it is typed for its async twin, too


@pytest.mark.usefixtures("folder")
def test_a_bell_that_rang_and_was_not_heard_is_not_rung_again(redis: RedisServer) -> None:
    bell = Bell(read_settings())
    assert bell.is_silent()
    for n in range(1000):
        bell.ring(f"{n:032}")
    assert not bell.is_silent()
    [message] = messages(redis)
    sent = json.loads(message)
    assert sent["headers"]["task"] == TASK
    assert sent["content-type"] == "application/json"
    assert json.loads(sent["headers"]["argsrepr"].replace("'", '"')) == ["0" * 32]


@pytest.mark.usefixtures("folder")
def test_what_answers(redis: RedisServer) -> None:
    assert broker_answer(read_settings()).startswith("Redis ")
    redis.kill()
    with pytest.raises(Unavailable, match=r"the broker at redis://127\.0\.0\.1:\d+/0 cannot be reached"):
        broker_answer(read_settings())


@pytest.mark.usefixtures("folder")
def test_a_wrong_password_is_a_wrong_setting(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with Redis.from_url(redis.url) as client:
        client.config_set("requirepass", SECRET)
    with pytest.raises(InvalidSettings, match="HOPWEAVE_BROKER__URL"):
        broker_answer(read_settings())
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", redis.url.replace("//", "//:wrong@"))
    with pytest.raises(InvalidSettings, match="refuses us") as refusal:
        broker_answer(read_settings())
    assert "wrong@" not in str(refusal.value)
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", redis.url.replace("//", f"//:{SECRET}@"))
    assert broker_answer(read_settings()).startswith("Redis ")


def test_a_password_is_never_logged(redis: RedisServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Redis.from_url(redis.url) as client:
        client.config_set("requirepass", SECRET)
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", redis.url.replace("//", f"//:{SECRET}@"))
    monkeypatch.setenv("HOPWEAVE_WORKER__SWEEP_SECONDS", "0.2")
    with shared_workers(folder, 1) as [worker]:
        redis.kill()
        until(lambda: "Cannot connect to redis://" in worker.said(), "Celery says what it cannot reach")
        assert worker.leave() == 0
        assert SECRET not in worker.said()


async def test_a_broker_that_hangs_delays_nobody(client: httpx.AsyncClient, redis: RedisServer) -> None:
    """Stopped, not gone: it takes connections and never answers."""
    assert (await client.post("/v1/corpora", json={"name": "c"})).status_code == 201
    assert redis.pid is not None
    os.kill(redis.pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(10):  # ten times as long, if each waited for its ring
            for n in range(100):
                documents = {"documents": [{"key": str(n), "text": f"Text {n}."}]}
                assert (await client.post("/v1/corpora/c/documents", json=documents)).status_code == 202
    finally:
        os.kill(redis.pid, signal.SIGCONT)


async def test_without_a_broker_all_but_the_bell_works(client: httpx.AsyncClient, redis: RedisServer) -> None:
    assert (await client.get("/readyz")).json()["parts"]["broker"] == "ok"
    redis.kill()
    ready = await client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["status"] == "degraded"
    assert ready.json()["parts"]["broker"].startswith("degraded: the broker at redis://")
    assert {ready.json()["parts"][store] for store in ("record", "vectors", "text", "files")} == {"ok"}
    assert (await client.post("/v1/corpora", json={"name": "c"})).status_code == 201
    documents = {"documents": [{"key": "ada", "text": "Ada Lovelace wrote the first program."}]}
    assert (await client.post("/v1/corpora/c/documents", json=documents)).status_code == 202
    redis.start()
    assert (await client.get("/readyz")).json()["status"] == "ok"


async def test_one_upload_is_spread_over_all_workers(container: Container, folder: Path) -> None:
    """Rung for once; the others are woken by the one who came."""
    with shared_workers(folder, 4) as workers:
        corpus = await corpora.create(container, "c")
        job = (await ingestion.hand_in(container, corpus, sentences(400), OnConflict.REPLACE)).job
        pids = {worker.pid for worker in workers}
        await asyncio.to_thread(until, lambda: at_work(folder) == pids, "all are at work")
        assert not (await container.record.jobs.get(job.id)).state.final, "while there is work"
        assert (await finished(container, job.id)).counts == {"indexed": 400}


async def test_corpora_take_turns(container: Container, folder: Path) -> None:
    """A large corpus does not keep a small one waiting, though no message tells of the small one."""
    with shared_workers(folder, 1):
        large, small = [await corpora.create(container, name) for name in ("large", "small")]
        first = (await ingestion.hand_in(container, large, sentences(400), OnConflict.REPLACE)).job
        second = (await ingestion.hand_in(container, small, sentences(2), OnConflict.REPLACE)).job
        assert (await finished(container, second.id)).counts == {"indexed": 2}
        assert not (await container.record.jobs.get(first.id)).state.final
        assert (await finished(container, first.id)).counts == {"indexed": 400}


async def test_a_message_many_times_over_is_work_once(container: Container, folder: Path, redis: RedisServer) -> None:
    with shared_workers(folder, 3):
        corpus = await corpora.create(container, "c")
        celery = make_celery(container.settings)
        job = (await ingestion.hand_in(container, corpus, sentences(100), OnConflict.REPLACE)).job
        for _ in range(30):
            celery.send_task(TASK, args=[corpus.id])
        assert (await finished(container, job.id)).counts == {"indexed": 100}
        generation = await container.record.graph.generation(corpus.id)
        for _ in range(30):
            celery.send_task(TASK, args=[corpus.id])
        await asyncio.to_thread(until, lambda: not messages(redis), "all messages are taken")
        assert await container.record.graph.generation(corpus.id) == generation, "nothing was written again"
        celery.close()


async def test_a_task_that_raises_ends_no_worker(container: Container, folder: Path) -> None:
    """Messages of somebody else's, or of a later version, in our queue."""
    with shared_workers(folder, 1) as [worker]:
        celery = make_celery(container.settings)
        celery.send_task(TASK, args=[])
        celery.send_task(TASK, args=[{"no": "corpus"}])
        celery.send_task("somebody.elses", args=[1])
        celery.send_task(TASK, args=[CORPUS])
        corpus = await corpora.create(container, "c")
        job = (await ingestion.hand_in(container, corpus, sentences(3), OnConflict.REPLACE)).job
        assert (await finished(container, job.id)).counts == {"indexed": 3}
        celery.close()
        assert worker.leave() == 0


async def test_a_worker_that_is_told_to_leave_hands_back(container: Container, folder: Path) -> None:
    """What it has not finished is another's, who is rung for as it leaves."""
    with shared_workers(folder, 1) as [worker]:
        corpus = await corpora.create(container, "c")
        job = (await ingestion.hand_in(container, corpus, sentences(400), OnConflict.REPLACE)).job
        await asyncio.to_thread(until, lambda: bool(at_work(folder)), "it is at work")
        assert await asyncio.to_thread(worker.leave) == 0
        assert (await container.record.jobs.get(job.id)).counts["queued"] > 0
        with shared_workers(folder / "second", 1):
            assert (await finished(container, job.id)).counts == {"indexed": 400}
