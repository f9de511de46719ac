"""What a worker process tidies up while no corpus has work."""

import asyncio
import gc
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.container import Container
from app.supervision.folder_lock import FolderLock
from app.worker.embedded import EmbeddedWorkerProcess
from core.corpora import CorpusSettings, Fine
from core.jobs import JobKind
from core.settings import Settings
from tests.desk import CountingEmbedder


@pytest.fixture(autouse=True)
def _same_interpreter() -> Iterator[None]:
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


def test_the_job_of_a_killed_import_is_closed_without_any_work(tmp_path: Path) -> None:
    container = Container(Settings(data_dir=tmp_path))
    container.embedder = CountingEmbedder()
    settings = CorpusSettings(
        chunker="sentences", extractor="pattern", fine=Fine.OFF, embedding_model="twin", dimension=64
    )
    corpus = asyncio.run(container.record.corpora.create("people", settings))
    job_id = asyncio.run(container.record.submissions.open_job(corpus.id, JobKind.RESTORE))
    with sqlite3.connect(tmp_path / "record.db") as record:  # as if an hour had passed since the import was killed
        record.execute("UPDATE jobs SET touched_at = 0 WHERE id = ?", (job_id,))
    record.close()
    process = EmbeddedWorkerProcess(container, FolderLock(tmp_path))
    assert process.list_waiting() == []
    assert asyncio.run(container.record.jobs.get(job_id)).state.final
    asyncio.run(container.close())
    process._loop.close()
