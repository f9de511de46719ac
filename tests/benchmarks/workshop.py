"""A data folder for one measurement, with its worker; gone afterwards unless it is to be kept."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.container import Container
from app.supervision.folder_supervision import FolderSupervision
from core.corpora import Corpus
from core.settings import Settings, read_settings
from evaluation import Dataset, IndexReport, index_dataset
from retrieval import warm

__all__ = ["Workshop", "silent", "workshop"]


@dataclass(frozen=True, kw_only=True)
class Workshop:
    settings: Settings
    container: Container
    supervision: FolderSupervision

    async def ingest(self, dataset: Dataset, extractor: str = "pattern") -> tuple[Corpus, IndexReport]:
        """Into a corpus of its own, whose name begins with the dataset's."""
        return await index_dataset(
            self.container, self.supervision, dataset, chunker="passage", extractor=extractor, progress=silent
        )


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


def silent(stage: str, done: int, total: int) -> None:
    """Nobody watches."""
