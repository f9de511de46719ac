"""What happens to the message changes nothing: the record knows what there is to do."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.broker.notifiers import FolderNotifier
from app.container import Container
from app.services import corpora, ingestion
from app.supervision.folder_supervision import FolderSupervision
from core.corpora import Corpus
from core.documents import OnConflict, Submission
from core.jobs import Job
from core.settings import Settings, read_settings

PATIENCE_SECONDS = 60


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOPWEAVE_WORKER__SWEEP_SECONDS", "0.5")
    return read_settings()


@pytest.fixture
async def container(settings: Settings) -> AsyncIterator[Container]:
    container = Container(settings)
    yield container
    await container.close()


@pytest.fixture
def supervision(settings: Settings) -> Iterator[FolderSupervision]:
    with FolderSupervision(settings) as supervision:
        assert supervision.wait_ready(PATIENCE_SECONDS)
        yield supervision


def blank(n: int) -> list[Submission]:
    """Documents without a sentence: they go all the way, and no model is needed."""
    return [Submission(key=f"blank-{i}.txt", content=b" \n", media_type="text/plain") for i in range(n)]


async def finished(container: Container, job_id: str) -> Job:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (job := await container.record.jobs.get(job_id)).state.final:
        assert time.monotonic() < deadline, f"not done after {PATIENCE_SECONDS} s: {job}"
        await asyncio.sleep(0.05)
    return job


async def hand_in(container: Container, corpus: Corpus, monkeypatch: pytest.MonkeyPatch, *, rings: int) -> str:
    with monkeypatch.context() as patch:
        patch.setattr(FolderNotifier, "notify", lambda *_: None)
        enqueued = await ingestion.submit(container, corpus, blank(20), OnConflict.REPLACE)
    for _ in range(rings):
        container.notifier.notify(corpus.id)
    return enqueued.job.id


@pytest.mark.usefixtures("supervision")
async def test_work_is_done_once_whether_its_message_is_lost_or_comes_three_times(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rings in (0, 3):
        corpus = await corpora.create(container, f"c{rings}")
        job = await finished(container, await hand_in(container, corpus, monkeypatch, rings=rings))
        assert job.counts == {"indexed": 20}
    generation = await container.record.graph.generation(corpus.id)
    await asyncio.sleep(2)
    assert await container.record.graph.generation(corpus.id) == generation, "nothing was written again"


async def test_a_half_written_message_is_got_over(
    container: Container, supervision: FolderSupervision, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = await corpora.create(container, "c")
    container.notifier.notify(corpus.id)
    queue = container.settings.data_dir / "broker" / "queue"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while list(queue.glob("*.msg")):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
    first = supervision.worker_pid()
    (queue / "1_half.hopweave.msg").write_text('{"body": "W1s', encoding="utf-8")
    job = await finished(container, await hand_in(container, corpus, monkeypatch, rings=1))
    assert job.counts == {"indexed": 20}
    assert first is not None
    again = await finished(container, (await ingestion.submit(container, corpus, blank(21), OnConflict.REPLACE)).job.id)
    assert again.counts == {"indexed": 1, "unchanged": 20}


async def test_a_stopped_worker_is_killed_and_replaced(container: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_WORKER__LEASE_SECONDS", "2")
    with FolderSupervision(read_settings()) as supervision:
        assert supervision.wait_ready(PATIENCE_SECONDS)
        first = supervision.worker_pid()
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        corpus = await corpora.create(container, "c")
        enqueued = await ingestion.submit(container, corpus, blank(3), OnConflict.REPLACE)
        job = await finished(container, enqueued.job.id)
        assert job.counts == {"indexed": 3}
        assert supervision.worker_pid() not in (None, first)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


async def test_a_second_supervisor_uses_the_worker_that_runs_and_takes_over(settings: Settings) -> None:
    with FolderSupervision(settings) as second:
        with FolderSupervision(settings) as first:
            assert first.wait_ready(PATIENCE_SECONDS)
            pid = first.worker_pid()
            await asyncio.sleep(1)
            assert second.worker_pid() == pid
            owner = first if first._child is not None and first._child.pid == pid else second
        if owner is first:
            assert second.wait_ready(PATIENCE_SECONDS)
            assert second.worker_pid() != pid
    assert second.worker_pid() is None
