"""`hopweave ingest` on servers, whose record becomes unavailable when the job has ended and its outcome is read."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cli.flows.ingest import Summary
from cli.flows.ingest import ingest as ingest_papers
from cli.flows.reading import PathsReading, Request
from cli.output.progress import Progress
from core.documents import OnConflict
from core.errors import Unavailable
from core.settings import read_settings
from indexer import Worker
from tests.integration.cli.conftest import OPTIONS
from tests.shared_folder import SharedFolder, environment


class Away:
    """A port of documents of which each reading fails some times first."""

    def __init__(self, documents: Any, times: int) -> None:
        self._documents = documents
        self.times = times

    async def list(self, *arguments: Any, **options: Any) -> Any:
        if self.times:
            self.times -= 1
            raise Unavailable("Neo4j takes connections and does not answer")
        return await self._documents.list(*arguments, **options)


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharedFolder:
    """Its settings are those of servers; nobody listens at the broker's address."""
    for name, value in environment(tmp_path, "redis://127.0.0.1:1/0").items():
        monkeypatch.setenv(name, value)
    return SharedFolder(read_settings())


async def ingest(container: SharedFolder, papers: Path) -> Summary:
    request = Request(
        paths=(papers,),
        corpus="p",
        extractor=None,
        chunker=None,
        fine=None,
        on_conflict=OnConflict.REPLACE,
        prune=False,
    )
    with container.composition.supervise() as supervision, Progress() as progress:
        running = asyncio.create_task(ingest_papers(container, request, PathsReading(request), supervision, progress))
        worker = Worker("here", container.indexing, OPTIONS)
        while not running.done():
            for corpus_id in await container.record.maintenance.list_corpora_with_work():
                await worker.work(corpus_id)
            await asyncio.sleep(0.02)
        return await running


async def test_it_waits_for_the_record_and_tells_what_was_indexed(
    container: SharedFolder, papers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = Away(container.record.documents, times=3)
    container.record.documents = away
    summary = await ingest(container, papers)
    assert summary.succeeded(strict=True)
    assert (summary.job.counts, summary.chunks) == ({"indexed": 2}, 2)
    assert away.times == 0
    assert capsys.readouterr().err.count("does not answer; waiting, and nothing is lost") == 1
    await container.close()


async def test_it_does_not_wait_longer_than_workers_do(
    container: SharedFolder, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await container.close()
    monkeypatch.setenv("HOPWEAVE_WORKER__RETRY_MINUTES", "0")
    container = SharedFolder(read_settings())
    container.record.documents = Away(container.record.documents, times=3)
    with pytest.raises(Unavailable, match="does not answer"):
        await ingest(container, papers)
    await container.close()
