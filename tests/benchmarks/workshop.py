"""A data folder for one measurement, with its worker; gone afterwards unless it is to be kept."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.container import Container
from app.services import corpora, ingestion
from app.supervision.folder_supervision import FolderSupervision
from app.supervision.supervision import JobWatch, RemoteJobWatch
from core.corpora import Corpus
from core.documents import OnConflict
from core.jobs import JobState
from core.settings import Settings, read_settings
from evaluation import Dataset, IndexReport, WorkerWatch, index_dataset
from indexer import read_paths
from retrieval import warm
from tests.servers.installation import configured, installation

__all__ = ["RunningWorker", "Workshop", "silent", "workshop", "workshop_on_servers"]

_POLL_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Workshop:
    settings: Settings
    container: Container
    supervision: WorkerWatch

    async def ingest(self, dataset: Dataset, extractor: str = "pattern") -> tuple[Corpus, IndexReport]:
        """Into a corpus of its own, whose name begins with the dataset's."""
        return await index_dataset(
            self.container, self.supervision, dataset, chunker="passage", extractor=extractor, progress=silent
        )

    async def ingest_files(self, folder: Path, name: str) -> Corpus:
        """Returns the corpus `name` of the files of a folder, indexed with the settings of a user who set nothing."""
        corpus = await corpora.ensure(self.container, name)
        job_id = ""
        documents = read_paths([folder], with_given=False)
        async with aclosing(ingestion.submit_all(self.container, corpus, documents, OnConflict.REPLACE)) as parts:
            async for part in parts:
                job_id = part.job.id
        job = await self.container.record.jobs.get(job_id)
        while not job.state.final:
            await asyncio.sleep(_POLL_SECONDS)
            job = await self.container.record.jobs.get(job_id)
        if job.state is not JobState.DONE:
            raise RuntimeError(f"{folder}: the files could not all be indexed: {job.failures}")
        return corpus


@asynccontextmanager
async def workshop(kept: Path | None = None) -> AsyncIterator[Workshop]:
    """Yields a workshop in a new folder, or in `kept`, which stays with its corpora for the next measurement."""
    with tempfile.TemporaryDirectory(prefix="hopweave-bench-") as folder:
        settings = read_settings(data_dir=kept or Path(folder))
        container = Container(settings)
        warm()
        try:
            with FolderSupervision(settings) as supervision:
                yield Workshop(settings=settings, container=container, supervision=supervision)
        finally:
            await container.close()


@asynccontextmanager
async def workshop_on_servers() -> AsyncIterator[Workshop]:
    """Yields a workshop on Neo4j, Milvus and Redis of its own, with a worker. Its settings are those of this process
    meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="hopweave-servers-") as folder, installation(Path(folder)) as servers:
        servers.start_worker()
        with configured(servers.settings):
            container = Container(read_settings())
            container.settings.data_dir.mkdir(exist_ok=True)
            try:
                watch = RunningWorker(log=servers.folder / "worker.log")
                yield Workshop(settings=container.settings, container=container, supervision=watch)
            finally:
                await container.close()


@dataclass(frozen=True, kw_only=True)
class RunningWorker:
    """As `evaluation.index_dataset` expects it: the worker is there, as a process of its own."""

    log: Path

    def worker_pid(self) -> int | None:
        return None

    def wait_ready(self, timeout: float) -> bool:
        return True

    def watch_job(self) -> JobWatch:
        return RemoteJobWatch(60.0)


def silent(stage: str, done: int, total: int) -> None:
    """Nobody watches."""
