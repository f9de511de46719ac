"""Indexing of a dataset without a worker, or with one that makes no progress: why it waits, and how it goes on."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.container import Container
from app.supervision import supervision
from app.supervision.folder_lock import Holder
from app.supervision.supervision import JobWatch, LocalJobWatch, RemoteJobWatch
from core.errors import Unavailable
from core.settings import read_settings
from evaluation import index_dataset, indexing, read_dataset
from tests.integration.evaluation.workbench import EXAMPLE
from tests.twins.embedder import TwinEmbedder


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    made = Container(read_settings(data_dir=tmp_path / "data"))
    made.embedder = TwinEmbedder(max_tokens=256)
    yield made
    await made.close()


@dataclass(kw_only=True)
class Idle:
    """Stands where `Supervision` does; no worker does any work."""

    watch: JobWatch
    log: Path
    told: list[str] = field(default_factory=list)

    def worker_pid(self) -> int | None:
        return None

    def wait_ready(self, timeout: float) -> bool:
        return True

    def watch_job(self) -> JobWatch:
        return self.watch

    async def index(self, container: Container) -> str:
        """Returns the message with which indexing ends."""

        def tell(what: str, done: int, total: int) -> None:
            assert (done, total) == (0, 99)
            self.told += [] if what in self.told else [what]

        with pytest.raises(Unavailable) as raised:
            await index_dataset(
                container, self, read_dataset(EXAMPLE), chunker="passage", extractor="pattern", progress=tell
            )
        return str(raised.value)


async def test_on_servers_a_missing_worker_is_told_at_once_and_ends_the_command_later(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_REPORT_SECONDS", 0.0)
    monkeypatch.setattr(indexing, "_SLOW_SECONDS", 0.3)
    monkeypatch.setattr(indexing, "_STALL_SECONDS", 0.5)
    idle = Idle(watch=RemoteJobWatch(60.0), log=tmp_path / "worker.log")
    assert await idle.index(container) == (
        "no worker makes progress, nothing was indexed for 0 s: if no worker runs, start one with `hopweave worker`. "
        "What is queued stays queued, and the same command goes on"
    )
    waiting = "indexing (no worker has begun: start one with `hopweave worker`, here or on another host; waiting)"
    assert idle.told[-1] == waiting


async def test_a_worker_that_dies_and_is_not_replaced_ends_the_command(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "_START_SECONDS", 0.2)
    idle = Idle(watch=LocalJobWatch(lambda: None, tmp_path / "worker.log"), log=tmp_path / "worker.log")
    assert await idle.index(container) == (
        f"no worker has started; {tmp_path}/worker.log says why. What is queued stays queued, and the same command "
        "goes on"
    )


async def test_a_worker_that_runs_without_progress_is_told_with_its_log(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_SLOW_SECONDS", 0.0)
    monkeypatch.setattr(indexing, "_STALL_SECONDS", 0.5)
    log = tmp_path / "worker.log"
    log.touch()
    holder = Holder(pid=os.getpid(), silent_seconds=0, waits_for="")
    idle = Idle(watch=LocalJobWatch(lambda: holder, log), log=log)
    assert f"no worker makes progress, nothing was indexed for 0 s: see {log}." in await idle.index(container)
    assert f"indexing (no progress for a minute: see {log}; waiting)" in idle.told


async def test_why_a_worker_waits_is_told(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_SLOW_SECONDS", 0.3)
    monkeypatch.setattr(indexing, "_STALL_SECONDS", 0.5)
    holder = Holder(pid=os.getpid(), silent_seconds=0, waits_for="the disk is full")
    idle = Idle(watch=LocalJobWatch(lambda: holder, tmp_path / "worker.log"), log=tmp_path / "worker.log")
    await idle.index(container)
    assert idle.told == ["indexing (the disk is full; waiting, and nothing is lost)"]


def test_work_that_a_dead_worker_repeats_is_no_progress(tmp_path: Path) -> None:
    stall = indexing._Stall(tmp_path / "worker.log")
    moves = [stall.has_moved(*done) for done in [(0, 0), (0, 40), (0, 0), (0, 40), (0, 41), (2, 0), (1, 90)]]
    assert moves == [True, True, False, False, True, True, False]
