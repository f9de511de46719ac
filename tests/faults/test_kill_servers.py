"""Servers and workers are killed at random moments of an ingest: it ends by itself, as if nothing had been."""

import asyncio
import os
import random
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.container import Container
from app.services import corpora, ingestion
from core.corpora import Corpus, Fine
from core.documents import OnConflict
from core.errors import Unavailable
from core.jobs import Job, JobState
from core.settings import read_settings
from indexer import Worker, WorkerOptions, submission_from_json
from testing.graph_rows import told
from tests.integration.servers.corpus import documents
from tests.openie import openie
from tests.servers.installation import HOPWEAVE, Installation, configured, installation
from tests.servers.server import Server
from tests.twins.chat_server import ChatServer, Reply
from tests.twins.embedding_server import EmbeddingServer

pytestmark = [pytest.mark.servers, pytest.mark.slow]

_DOCUMENTS = 160
_WORKERS = 4
_AWAY_SECONDS = 5
_LONGEST_SECONDS = 600
_OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=64_000, task_seconds=600, retry_seconds=0)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Installation]:
    """With short leases, small batches, and models that take their time, so that there is time to kill in."""
    with ChatServer() as model, EmbeddingServer(dimension=64) as embedding:
        model.respond = lambda call: replace(openie(call), delay=0.3) if "<passage>" in call.text else Reply()
        more = {
            **embedding.environment,
            "HOPWEAVE_LLM__BASE_URL": model.url,
            "HOPWEAVE_LLM__MODEL": "twin",
            "HOPWEAVE_LLM__API_KEY": "none",
            "HOPWEAVE_LLM__CONCURRENCY": "1",
            "HOPWEAVE_WORKER__LEASE_SECONDS": "6",
            "HOPWEAVE_WORKER__RENEW_SECONDS": "1.5",
            "HOPWEAVE_WORKER__SWEEP_SECONDS": "2",
            "HOPWEAVE_WORKER__TASK_SECONDS": "5",
            "HOPWEAVE_WORKER__BATCH_BYTES": "4000",
        }
        with installation(tmp_path, more, heap="768m", short_lived=True) as made:
            yield made


async def test_whatever_is_killed_it_ends_as_if_nothing_had_been(servers: Installation) -> None:
    chance = random.Random()
    undisturbed, synonyms = await _undisturbed(servers)
    async with _container(servers.settings) as container:
        stormy, job = await _handed_in(container)
        workers = servers.start_worker(_WORKERS)
        storm = asyncio.create_task(_storm(servers, workers, chance))
        done = await _settled(container, job)
        await storm
        assert (done.state, done.counts) == (JobState.DONE, {"indexed": _DOCUMENTS}), done.failures
        assert await _export(container, stormy) == undisturbed
    servers.stop_workers()
    mended = await asyncio.to_thread(_mended, servers)
    assert mended.returncode == 0, mended.stdout + mended.stderr
    async with _container(servers.settings) as container:
        await _joined(container, stormy, synonyms)


_Pairs = set[tuple[str, str]]


async def _undisturbed(servers: Installation) -> tuple[list[object], _Pairs]:
    """What one worker in this process makes of the same documents, with the same models, in a folder of its own."""
    ours = {"HOPWEAVE_DATA_DIR": str(servers.folder / "undisturbed"), "HOPWEAVE_LLM__CONCURRENCY": "16"}
    async with _container({**servers.more, **ours}) as container:
        corpus, job = await _handed_in(container)
        while await Worker("undisturbed", container.indexing, _OPTIONS).work(corpus.id):
            pass
        assert (await container.record.jobs.get(job.id)).counts == {"indexed": _DOCUMENTS}
        synonyms = await _synonyms(container, corpus)
        assert synonyms
        return await _export(container, corpus), synonyms


async def _synonyms(container: Container, corpus: Corpus) -> _Pairs:
    _, rows = await container.record.graph.graph(corpus.id)
    return {pair[:2] for pair in told(rows).synonyms}


async def _joined(container: Container, corpus: Corpus, expected: _Pairs) -> None:
    """Pairs that two workers may have missed, of whom one was killed, are found some seconds later."""
    async with asyncio.timeout(_LONGEST_SECONDS):
        while await _synonyms(container, corpus) != expected:
            await Worker("late", container.indexing, _OPTIONS).work(corpus.id)
            await asyncio.sleep(1)


def _mended(servers: Installation) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [HOPWEAVE, "doctor", "--repair"],
        env={**os.environ, **servers.settings},
        capture_output=True,
        text=True,
        check=False,
    )


async def _storm(servers: Installation, workers: subprocess.Popen[bytes], chance: random.Random) -> None:
    """Each is killed once, in any order, and is back some seconds later."""
    victims: list[Callable[[], None]] = [
        *(lambda server=server: _fell(server) for server in servers.servers),
        *[lambda: _kill_one(workers, chance)] * 2,
    ]
    chance.shuffle(victims)
    for kill in victims:
        await asyncio.sleep(chance.uniform(0.5, 3))
        await asyncio.to_thread(kill)


def _fell(server: Server) -> None:
    server.kill()
    time.sleep(_AWAY_SECONDS)
    server.start()


def _kill_one(workers: subprocess.Popen[bytes], chance: random.Random) -> None:
    while not (children := _children(workers)):
        time.sleep(0.1)  # they are just being started
    os.kill(chance.choice(children), signal.SIGKILL)


def _children(process: subprocess.Popen[bytes]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(pid) for pid in found.split()]


@asynccontextmanager
async def _container(settings: Mapping[str, str]) -> AsyncIterator[Container]:
    with configured(settings):
        container = Container(read_settings())
        try:
            yield container
        finally:
            await container.close()


async def _handed_in(container: Container) -> tuple[Corpus, Job]:
    corpus = await corpora.create(container, "c", chunker="passage", extractor="llm+given", fine=Fine.ON)
    drawn = documents(_DOCUMENTS, seed=3)
    submissions = [
        submission_from_json({"key": one.pop("id"), **one, "entities": [_bridge(position)]})
        for position, one in enumerate(drawn)
    ]
    return corpus, (await ingestion.submit(container, corpus, submissions, OnConflict.REPLACE)).job


def _bridge(position: int) -> str:
    """A name that is like another's, which is some batches away, and so with another worker at the same time."""
    batches, place = divmod(position, 20)
    pair, second = divmod(batches, 2)
    return f"bridge{'-' if second else ' '}{20 * pair + place}"


async def _settled(container: Container, job: Job) -> Job:
    """The record may be away for a while."""
    async with asyncio.timeout(_LONGEST_SECONDS):
        while not job.settled:
            await asyncio.sleep(0.2)
            try:
                job = await container.record.jobs.get(job.id)
            except Unavailable:
                continue
    return job


async def _export(container: Container, corpus: Corpus) -> list[object]:
    return [row async for row in container.record.exporter.rows(corpus.id, canonical=True)]
