"""The notifier on real brokers: how many messages it sends, who receives them, and what an outage changes."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
import pytest

from api.main import create_app
from app.broker.broker import check_broker, make_celery
from app.broker.notifier import TASK
from app.broker.notifiers import ServerNotifier
from app.container import Container
from app.services import corpora, ingestion
from core.documents import OnConflict
from core.errors import InvalidSettings, Unavailable
from core.settings import read_settings
from tests.brokers import Broker, forget, guarded, make, password_in, take, waiting
from tests.servers.fixtures import RunOwn
from tests.servers.ports import free_ports
from tests.servers.rabbitmq_server import RabbitmqServer
from tests.shared_folder import environment
from tests.shared_workers import at_work, finished, sentences, shared_container, shared_workers, until

pytestmark = pytest.mark.servers

CORPUS = "0" * 32
SECRET = "do-not-show-me"  # noqa: S105 - for a server of the test's own

only_redis = pytest.mark.parametrize("broker", ["redis"], indirect=True)
only_rabbitmq = pytest.mark.parametrize("broker", ["rabbitmq"], indirect=True)


@pytest.fixture
def folder(tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No sweep in a test's time: what is done was rung for."""
    times = {"WORKER__SWEEP_SECONDS": "3600", "WORKER__BATCH_BYTES": "400", "WORKER__TASK_SECONDS": "2"}
    for name, value in environment(tmp_path, broker.url, **times).items():
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


@pytest.mark.usefixtures("folder")
def test_no_message_is_sent_while_one_waits(broker: Broker) -> None:
    notifier = ServerNotifier(read_settings())
    assert notifier.is_queue_empty()
    for n in range(1000):
        notifier.notify(f"{n:032}")
    assert not notifier.is_queue_empty()
    assert waiting(broker) == 1
    message = take(broker)
    assert message.headers["task"] == TASK
    assert message.content_type == "application/json"
    assert message.payload[0] == [CORPUS]
    assert notifier.is_queue_empty()
    notifier.disconnect()
    assert notifier.is_queue_empty(), "it has another connection"
    notifier.disconnect()


@pytest.mark.usefixtures("folder")
def test_what_answers(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_broker(read_settings()).lower().startswith(f"{broker.name} ")
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", broker.url.replace(str(broker.port), str(free_ports(1)[0])))
    with pytest.raises(Unavailable, match=r"the broker at (redis|amqp)://127\.0\.0\.1:\d+/0? cannot be reached"):
        check_broker(read_settings())


@pytest.mark.usefixtures("folder")
def test_a_wrong_password_is_a_wrong_setting(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    url = guarded(broker, SECRET)
    password = password_in(url)
    for wrong in (url.replace(password, "wrong-and-secret"), url.replace(f":{password}@", "@")):
        monkeypatch.setenv("HOPWEAVE_BROKER__URL", wrong)
        with pytest.raises(InvalidSettings, match=r"refuses us: .* HOPWEAVE_BROKER__URL") as refusal:
            check_broker(read_settings())
        assert "wrong-and-secret" not in str(refusal.value)
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", url)
    assert check_broker(read_settings())


@only_rabbitmq
@pytest.mark.usefixtures("folder")
def test_a_virtual_host_that_is_not_there_is_a_wrong_setting(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", f"{broker.url[:-1]}elsewhere")
    with pytest.raises(InvalidSettings, match=r"elsewhere .*HOPWEAVE_BROKER__URL"):
        check_broker(read_settings())


@only_rabbitmq
@pytest.mark.usefixtures("folder")
def test_a_queue_of_another_kind_is_refused(broker: Broker) -> None:
    make(broker, {"x-queue-type": "quorum"})
    with pytest.raises(InvalidSettings, match="a queue 'hopweave' of another kind"):
        check_broker(read_settings())
    with pytest.raises(Unavailable, match="of another kind"):
        ServerNotifier(read_settings()).notify(CORPUS)
    forget(broker)
    assert check_broker(read_settings())


@only_redis
def test_a_password_is_never_logged(broker: Broker, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_BROKER__URL", guarded(broker, SECRET))
    monkeypatch.setenv("HOPWEAVE_WORKER__SWEEP_SECONDS", "0.2")
    with shared_workers(folder, 1) as [worker]:
        broker.kill()
        until(lambda: "Cannot connect to redis://" in worker.said(), "Celery says what it cannot reach")
        assert worker.leave() == 0
        assert SECRET not in worker.said()


async def test_a_broker_that_hangs_delays_nobody(client: httpx.AsyncClient, broker: Broker) -> None:
    """Stopped, not gone: it takes connections and never answers."""
    assert (await client.post("/v1/corpora", json={"name": "c"})).status_code == 201
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(60):  # nearly twice as long, if each waited for its ring
            for n in range(100):
                documents = {"documents": [{"key": str(n), "text": f"Text {n}."}]}
                assert (await client.post("/v1/corpora/c/documents", json=documents)).status_code == 202
    finally:
        os.kill(broker.pid, signal.SIGCONT)


async def test_without_a_broker_all_but_messages_works(client: httpx.AsyncClient, broker: Broker) -> None:
    assert (await client.get("/readyz")).json()["parts"]["broker"] == "ok"
    broker.kill()
    ready = await client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["status"] == "degraded"
    assert ready.json()["parts"]["broker"].startswith(f"degraded: the broker at {broker.url[:5]}")
    assert {ready.json()["parts"][store] for store in ("record", "vectors", "text", "files")} == {"ok"}
    assert (await client.post("/v1/corpora", json={"name": "c"})).status_code == 201
    documents = {"documents": [{"key": "ada", "text": "Ada Lovelace wrote the first program."}]}
    assert (await client.post("/v1/corpora/c/documents", json=documents)).status_code == 202
    broker.start()
    assert (await client.get("/readyz")).json()["status"] == "ok"


@only_redis
async def test_one_upload_is_spread_over_all_workers(container: Container, folder: Path) -> None:
    """Rung for once; the others are woken by the one who came."""
    with shared_workers(folder, 4) as workers:
        corpus = await corpora.create(container, "c")
        job = (await ingestion.submit(container, corpus, sentences(400), OnConflict.REPLACE)).job
        pids = {worker.pid for worker in workers}
        await asyncio.to_thread(until, lambda: at_work(folder) == pids, "all are at work")
        assert not (await container.record.jobs.get(job.id)).state.final, "while there is work"
        assert (await finished(container, job.id)).counts == {"indexed": 400}


@only_redis
async def test_corpora_take_turns(container: Container, folder: Path) -> None:
    """A large corpus does not keep a small one waiting, though no message tells of the small one."""
    with shared_workers(folder, 1):
        large, small = [await corpora.create(container, name) for name in ("large", "small")]
        first = (await ingestion.submit(container, large, sentences(400), OnConflict.REPLACE)).job
        second = (await ingestion.submit(container, small, sentences(2), OnConflict.REPLACE)).job
        assert (await finished(container, second.id)).counts == {"indexed": 2}
        assert not (await container.record.jobs.get(first.id)).state.final
        assert (await finished(container, first.id)).counts == {"indexed": 400}


async def test_a_message_many_times_over_is_work_once(container: Container, folder: Path, broker: Broker) -> None:
    with shared_workers(folder, 3):
        corpus = await corpora.create(container, "c")
        celery = make_celery(container.settings)
        job = (await ingestion.submit(container, corpus, sentences(100), OnConflict.REPLACE)).job
        for _ in range(30):
            celery.send_task(TASK, args=[corpus.id])
        assert (await finished(container, job.id)).counts == {"indexed": 100}
        generation = await container.record.graph.generation(corpus.id)
        for _ in range(30):
            celery.send_task(TASK, args=[corpus.id])
        await asyncio.to_thread(until, lambda: not waiting(broker), "all messages are taken")
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
        job = (await ingestion.submit(container, corpus, sentences(3), OnConflict.REPLACE)).job
        assert (await finished(container, job.id)).counts == {"indexed": 3}
        celery.close()
        assert worker.leave() == 0


async def test_work_that_takes_longer_than_rabbitmq_waits(
    tmp_path: Path, run_own: RunOwn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the message and the channel away from the worker, who goes on, and hears of what comes next."""

    def make_impatient(home: Path, ports: Sequence[int]) -> RabbitmqServer:
        places = {"port": ports[0], "node_port": ports[1], "epmd_port": ports[2]}
        return RabbitmqServer(home, **places, consumer_seconds=0.5)

    impatient, times = run_own(make_impatient), {"WORKER__SWEEP_SECONDS": "3600", "WORKER__BATCH_BYTES": "400"}
    for name, value in environment(tmp_path, impatient.url, **times).items():
        monkeypatch.setenv(name, value)
    async with shared_container() as container:
        with shared_workers(tmp_path, 1) as [worker]:
            corpus = await corpora.create(container, "c")
            job = (await ingestion.submit(container, corpus, sentences(200), OnConflict.REPLACE)).job
            assert (await finished(container, job.id)).counts == {"indexed": 200}
            await asyncio.to_thread(until, lambda: "to broker lost" in worker.said(), "its channel was taken away")
            assert "timed out waiting for delivery acknowledgement" in impatient.log.read_text("utf-8")
            job = (await ingestion.submit(container, corpus, sentences(3, first=1000), OnConflict.REPLACE)).job
            assert (await finished(container, job.id)).counts == {"indexed": 3}
            assert worker.leave() == 0
    impatient.stop()


@only_redis
async def test_a_worker_that_is_told_to_leave_hands_back(container: Container, folder: Path) -> None:
    """What it has not finished is another's, who is rung for as it leaves."""
    with shared_workers(folder, 1) as [worker]:
        corpus = await corpora.create(container, "c")
        job = (await ingestion.submit(container, corpus, sentences(400), OnConflict.REPLACE)).job
        await asyncio.to_thread(until, lambda: bool(at_work(folder)), "it is at work")
        assert await asyncio.to_thread(worker.leave) == 0
        assert (await container.record.jobs.get(job.id)).counts["queued"] > 0
        with shared_workers(folder / "second", 1):
            assert (await finished(container, job.id)).counts == {"indexed": 400}
