"""Kill -9 of the broker and of workers in the middle of work: it goes on by itself."""

import asyncio
import signal
from pathlib import Path

import pytest

from app.services import corpora, ingestion
from core.documents import OnConflict
from tests.brokers import Broker, password_in
from tests.shared_folder import TAKES_MESSAGES, environment, hold
from tests.shared_workers import at_work, finished, sentences, shared_container, shared_workers, until

pytestmark = [pytest.mark.servers, pytest.mark.slow]

NO_SWEEP = "3600"


only_redis = pytest.mark.parametrize("broker", ["redis"], indirect=True)


def settings(monkeypatch: pytest.MonkeyPatch, folder: Path, broker: Broker, *, sweep_seconds: str) -> None:
    ours = environment(
        folder,
        broker.url,
        WORKER__SWEEP_SECONDS=sweep_seconds,
        WORKER__BATCH_BYTES="400",
        WORKER__LEASE_SECONDS="3",
        WORKER__RENEW_SECONDS="0.5",
    )
    for name, value in ours.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(("broker", "deaths"), [("redis", 4), ("rabbitmq", 1)], indirect=["broker"])
async def test_work_begins_however_often_the_broker_dies(
    tmp_path: Path, broker: Broker, deaths: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message may be lost with a broker that dies the moment after; then whoever sweeps finds the work."""
    settings(monkeypatch, tmp_path, broker, sweep_seconds="5")
    with shared_workers(tmp_path, 2) as workers:
        async with shared_container() as container:
            corpus = await corpora.create(container, "c")
            first = (await ingestion.hand_in(container, corpus, sentences(200), OnConflict.REPLACE)).job
            await asyncio.to_thread(until, lambda: bool(at_work(tmp_path)), "a worker is at it")
            broker.kill()
            await asyncio.sleep(2)
            broker.start()
            assert (await finished(container, first.id)).counts == {"indexed": 200}
            for n in range(1, deaths):
                broker.kill()
                broker.start()
                more = sentences(10, first=1000 * n)
                job = (await ingestion.hand_in(container, corpus, more, OnConflict.REPLACE)).job
                assert (await finished(container, job.id)).counts == {"indexed": 10}
            assert [worker.leave() for worker in workers] == [0, 0]
            assert all((password_in(broker.url) or "\0") not in worker.said() for worker in workers)


@only_redis
async def test_what_is_handed_in_meanwhile_is_done_without_a_broker(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(monkeypatch, tmp_path, broker, sweep_seconds="0.5")
    with shared_workers(tmp_path, 2) as workers:
        async with shared_container() as container:
            corpus = await corpora.create(container, "c")
            broker.kill()
            job = (await ingestion.hand_in(container, corpus, sentences(200), OnConflict.REPLACE)).job
            pids = {worker.pid for worker in workers}
            await asyncio.to_thread(until, lambda: at_work(tmp_path) == pids, "both are at it")
            assert (await finished(container, job.id)).counts == {"indexed": 200}
            broker.start()
            job = (await ingestion.hand_in(container, corpus, sentences(10, first=1000), OnConflict.REPLACE)).job
            assert (await finished(container, job.id)).counts == {"indexed": 10}
            assert [worker.leave() for worker in workers] == [0, 0]


async def test_workers_start_before_their_broker(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(monkeypatch, tmp_path, broker, sweep_seconds=NO_SWEEP)
    broker.stop()
    with shared_workers(tmp_path, 1) as [worker]:
        await asyncio.to_thread(until, lambda: "Cannot connect" in worker.said(), "it has tried")
        broker.start()
        async with shared_container() as container:
            corpus = await corpora.create(container, "c")
            job = (await ingestion.hand_in(container, corpus, sentences(10), OnConflict.REPLACE)).job
            assert (await finished(container, job.id)).counts == {"indexed": 10}


@only_redis
async def test_a_worker_that_is_killed_loses_nothing(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease runs out, and another one takes over what it held."""
    settings(monkeypatch, tmp_path, broker, sweep_seconds="0.5")
    with shared_workers(tmp_path, 2) as [first, second]:
        async with shared_container() as container:
            corpus = await corpora.create(container, "c")
            job = (await ingestion.hand_in(container, corpus, sentences(300), OnConflict.REPLACE)).job
            await asyncio.to_thread(until, lambda: first.pid in at_work(tmp_path), "it is at work")
            first.kill()
            assert (await finished(container, job.id)).counts == {"indexed": 300}
            assert second.leave() == 0


@only_redis
async def test_a_worker_that_is_asked_by_a_signal_leaves_in_peace(
    tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is held in the middle of its first batch until it has heard the signal, and leaves the others."""
    settings(monkeypatch, tmp_path, broker, sweep_seconds=NO_SWEEP)
    hold(tmp_path).touch()
    with shared_workers(tmp_path, 1) as [worker]:
        await asyncio.to_thread(until, lambda: TAKES_MESSAGES in worker.said(), "Celery hears signals")
        async with shared_container() as container:
            corpus = await corpora.create(container, "c")
            await ingestion.hand_in(container, corpus, sentences(100), OnConflict.REPLACE)
            await asyncio.to_thread(until, lambda: bool(at_work(tmp_path)), "it is at work")
            worker.send(signal.SIGTERM)
            await asyncio.to_thread(until, lambda: "Warm shutdown" in worker.said(), "it has heard the signal")
            hold(tmp_path).unlink()
            assert await asyncio.to_thread(worker.wait) == 0
            [job] = await container.record.jobs.list()
            assert job.counts.get("queued"), worker.said()
