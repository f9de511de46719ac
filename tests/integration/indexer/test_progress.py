"""The progress of a job while a worker indexes one large document: it moves before the document is indexed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.jobs import JobProgress
from indexer import Worker
from tests.desk import OPTIONS, CountingEmbedder, Desk

CHUNKS = 12
BOOK = {
    "id": "book",
    "title": "A book",
    "chunks": [{"text": f"Chapter {n} is about the number {n}."} for n in range(CHUNKS)],
}


class Gated(CountingEmbedder):
    """Embeds the first part, and the others once the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        if self.embedded:
            await self.gate.wait()
        return await super().embed_passages(texts)


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr("indexer.views.writing._FIRST_PART", 4)
    monkeypatch.setattr("indexer.pipeline.progress._REPORT_SECONDS", 0.02)
    desk = Desk(tmp_path)
    yield desk
    await desk.close()


async def wait_for(desk: Desk, job: str, expected: Callable[[JobProgress], bool]) -> JobProgress:
    async with asyncio.timeout(60):
        while True:
            progress = (await desk.record.jobs.get(job)).progress
            if expected(progress):
                return progress
            await asyncio.sleep(0.01)


async def test_progress_moves_within_a_document(desk: Desk) -> None:
    corpus = await desk.corpus()
    job = await desk.queue(corpus, BOOK)
    embedder = Gated()
    worker = Worker("w", replace(desk.backends, embedder=embedder), OPTIONS)
    working = asyncio.create_task(worker.work(corpus.id))
    progress = await wait_for(desk, job, lambda found: found.passages == 4)
    assert (progress.passages_total, progress.bytes) == (CHUNKS, progress.bytes_total // 3)
    assert (await desk.record.jobs.get(job)).counts == {"writing": 1}
    embedder.gate.set()
    await working
    ended = (await desk.record.jobs.get(job)).progress
    assert (ended.passages, ended.passages_total, ended.seconds_left) == (CHUNKS, CHUNKS, None)
    assert ended.bytes == ended.bytes_total > 0


async def test_a_worker_that_stops_takes_its_progress_back(desk: Desk) -> None:
    corpus = await desk.corpus()
    job = await desk.queue(corpus, BOOK)
    stopping = False
    worker = Worker("w", replace(desk.backends, embedder=Gated()), OPTIONS, is_stopping=lambda: stopping)
    working = asyncio.create_task(worker.work(corpus.id))
    await wait_for(desk, job, lambda found: found.passages == 4)
    stopping = True
    assert await working
    assert (await desk.record.jobs.get(job)).progress.passages_total == 0
    await desk.worker.work(corpus.id)
    assert (await desk.record.jobs.get(job)).progress.passages == CHUNKS
