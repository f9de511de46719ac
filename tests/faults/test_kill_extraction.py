"""Kill -9 the worker in the middle of an extraction: what was paid for and staged is not paid for again."""

import asyncio
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from app.container import Container
from app.services.ingestion import submit
from app.supervision.folder_lock import is_held, read_holder
from app.supervision.folder_supervision import FolderSupervision
from core.corpora import CorpusSettings, Fine
from core.documents import OnConflict
from core.jobs import Job, JobState
from core.settings import read_settings
from indexer import submission_from_json
from tests.openie import openie, passage_of
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.embedding_server import EmbeddingServer

SENTENCES = [f"Ada Lovelace met Person Number{n} in the town of Place{n}." for n in range(120)]
DOCUMENT = {"key": "long", "title": "Ada Lovelace", "chunks": [{"text": text} for text in SENTENCES]}
STAGED = 60
PATIENCE_SECONDS = 60.0


@asynccontextmanager
async def _container() -> AsyncIterator[Container]:
    container = Container(read_settings())
    try:
        yield container
    finally:
        await container.close()


async def _queue(container: Container) -> Job:
    settings = CorpusSettings(
        chunker="passage",
        extractor="llm",
        fine=Fine.OFF,
        embedding_model=container.embedder.model,
        dimension=container.embedder.dimension,
    )
    corpus = await container.record.corpora.create("people", settings)
    return (await submit(container, corpus, [submission_from_json(DOCUMENT)], OnConflict.REPLACE)).job


async def _kill_the_worker(folder: Path) -> None:
    who = read_holder(folder)
    assert who is not None
    os.kill(who.pid, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while is_held(folder):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def _until_done(container: Container, job: Job) -> Job:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (job := await container.record.jobs.get(job.id)).settled:
        assert time.monotonic() < deadline, job
        await asyncio.sleep(0.05)
    return job


@pytest.mark.slow
async def test_what_was_staged_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hold = True

    def respond(call: Call) -> Reply:
        return Reply(stall=True) if hold and call.number >= STAGED + 8 else openie(call)

    with ChatServer(respond=respond) as server, EmbeddingServer() as embeddings:
        ours = {
            "DATA_DIR": str(tmp_path),
            "LLM__BASE_URL": server.url,
            "LLM__MODEL": "twin",
            "LLM__API_KEY": "none",
        }
        for name, value in {**embeddings.environment, **{f"HOPWEAVE_{name}": ours[name] for name in ours}}.items():
            monkeypatch.setenv(name, value)
        async with _container() as container:
            job = await _queue(container)
            with FolderSupervision(container.settings):
                await server.until(lambda: len(server.calls) >= STAGED + 8)
                await _wait_for_staged(tmp_path, STAGED + 8)
                await _kill_the_worker(tmp_path)
            before, hold = len(server.calls), False
            with FolderSupervision(container.settings):
                done = await _until_done(container, job)
        assert (done.state, done.counts) == (JobState.DONE, {"indexed": 1})
        assert done.tokens > 0
        again = Counter(passage_of(call) for call in server.calls[before:])
        assert len(again) == len(SENTENCES) - STAGED - 8, "what was staged is not asked again"
        assert set(again.values()) == {1}


async def _wait_for_staged(folder: Path, count: int) -> None:
    """Waits until the extractions of all calls that were answered are in the record."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with closing(sqlite3.connect(f"file:{folder / 'record.db'}?mode=ro", uri=True)) as record:
        while (staged := record.execute("SELECT count(*) FROM extraction_rows").fetchone()[0]) < count:
            assert time.monotonic() < deadline, f"{staged} extractions are in the record"
            await asyncio.sleep(0.02)
        assert staged == count
