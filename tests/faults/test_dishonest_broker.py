"""A worker process whose broker answers what is no answer goes on working, and hears messages again afterwards."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.broker.broker import check_broker
from app.broker.notifiers import ServerNotifier
from app.services import corpora, ingestion
from core.documents import OnConflict
from core.errors import Unavailable
from core.jobs import JobState
from core.settings import read_settings
from tests.servers.proxy import Manner, Proxy
from tests.servers.redis_server import RedisServer
from tests.shared_folder import environment
from tests.shared_workers import finished, sentences, shared_container, shared_workers

pytestmark = [pytest.mark.servers, pytest.mark.slow]

_GARBAGE = {
    "no number": b"$abc\r\n",
    "no fields": b"-ASK 1 x\r\n",
    "nested": b"*1\r\n" * 100_000,
    "endless": b"*9999999999\r\n",
    "HTTP": b"HTTP/1.1 400 Bad Request\r\n\r\n",
}


@pytest.fixture
def proxy(own_redis: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with Proxy(own_redis.port) as made:
        more = {"WORKER__SWEEP_SECONDS": "1", "WORKER__LEASE_SECONDS": "5", "WORKER__RENEW_SECONDS": "1"}
        broker = f"redis://user:secret-of-ours@127.0.0.1:{made.port}/0"
        for name, value in environment(tmp_path, broker.replace("user:secret-of-ours@", ""), **more).items():
            monkeypatch.setenv(name, value)
        yield made


@pytest.mark.parametrize("garbage", _GARBAGE)
def test_an_answer_that_cannot_be_read_is_an_outage(proxy: Proxy, garbage: str) -> None:
    proxy.garbage, proxy.manner = _GARBAGE[garbage], Manner.GARBAGE
    notifier = ServerNotifier(read_settings())
    for ask in (lambda: check_broker(read_settings()), lambda: notifier.notify("c"), notifier.is_queue_empty):
        with pytest.raises(Unavailable, match="HOPWEAVE_BROKER__URL"):
            ask()
    proxy.manner = Manner.HONEST
    notifier.notify("c")
    notifier.disconnect()


async def test_a_worker_outlives_it(proxy: Proxy, tmp_path: Path) -> None:
    with shared_workers(tmp_path / "logs", 1) as [worker]:
        async with shared_container() as container:
            corpus = await corpora.create(container, "people")
            for number, (manner, garbage) in enumerate(
                [(Manner.GARBAGE, one) for one in _GARBAGE.values()]
                + [(Manner.CUT, b""), (Manner.DRIPS, b""), (Manner.SILENT, b""), (Manner.HONEST, b"")]
            ):
                proxy.garbage, proxy.manner = garbage, manner
                proxy.hang_up()
                enqueued = await ingestion.submit(container, corpus, sentences(2, 2 * number), OnConflict.REPLACE)
                job = await finished(container, enqueued.job.id)
                assert (job.state, job.counts) == (JobState.DONE, {"indexed": 2}), worker.said()
            os.kill(worker.pid, 0)
        assert worker.leave() == 0, worker.said()
