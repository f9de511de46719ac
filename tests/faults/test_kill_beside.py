"""Kill -9 the worker process amid a large text, while small documents wait or are indexed beside it."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from app.container import Container
from app.doctor.consistency import examine_views, read_record_ids
from app.services import corpora
from app.supervision.folder_supervision import FolderSupervision
from core.documents import Submission
from core.settings import read_settings
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.benchmarks.documents.jobs import ingest, text_submission

LARGE = "\n\n".join(f"In {1000 + n} Ada Lovelace saw the bridge number {n} of London." for n in range(4_000))


def small(name: str) -> list[Submission]:
    return [text_submission(f"{name}-{n}", f"Charles Babbage wrote letter {n} to {name}.") for n in range(4)]


async def until_in_work(container: Container) -> None:
    """Waits until the text is cut, of which its extraction and embedding are left."""
    while True:
        jobs = await container.record.jobs.list()
        if any(job.progress.passages_total for job in jobs):
            return
        await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_a_worker_that_is_killed_amid_a_large_text_loses_nothing(tmp_path: Path) -> None:
    with embedding_endpoint():
        settings = read_settings(data_dir=tmp_path)
        container = Container(settings)
        try:
            with FolderSupervision(settings) as supervision:
                books = await corpora.create(container, "books")
                letters = await corpora.create(container, "letters")
                async with asyncio.timeout(300), asyncio.TaskGroup() as jobs:
                    jobs.create_task(ingest(container, books, [text_submission("large.txt", LARGE)]))
                    await until_in_work(container)
                    jobs.create_task(ingest(container, letters, small("letters")))
                    jobs.create_task(ingest(container, books, small("books")))
                    await asyncio.sleep(0.5)
                    pid = supervision.worker_pid()
                    assert pid is not None
                    os.kill(pid, signal.SIGKILL)
            for corpus, documents in ((books, 5), (letters, 4)):
                listed = await container.record.documents.list(corpus.id, limit=10)
                assert [one.state.value for one in listed.data] == ["indexed"] * documents
                named = await read_record_ids(container, corpus)
                states = await examine_views(container, corpus, named, busy=False)
                assert not any(state.lacking for state in states)
        finally:
            await container.close()
