"""The command line in this process, with the real stores, the embedder's twin and a worker in a thread."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import app.container.adapters
from app.container import Container
from app.supervision.folder_lock import FolderLock
from cli.main import run
from core.settings import read_settings
from indexer import Worker, WorkerOptions
from tests.twins.embedder import TwinEmbedder

OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=64_000, task_seconds=60, retry_seconds=0)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Hopweave = Callable[..., Ran]


@pytest.fixture
def hopweave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hopweave:
    """Runs `hopweave ARGUMENTS…`; an exception that reaches the user as a traceback fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: TwinEmbedder())

    def command(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["hopweave", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int | None)
        return Ran(code=ended.value.code or 0, out=out, err=err)

    return command


@pytest.fixture
def worker(hopweave: Hopweave) -> Iterator[None]:  # noqa: ARG001 - it sets the data folder
    with working():
        yield


@contextmanager
def working() -> Iterator[None]:
    """Holds the folder's lock as a worker does, so that commands use this one instead of starting a process."""
    settings = read_settings()
    ended = threading.Event()

    async def work() -> None:
        container = Container(settings)
        indexing = Worker("thread", container.indexing, OPTIONS)
        while not ended.is_set():
            for corpus_id in await container.record.maintenance.list_corpora_with_work():
                await indexing.work(corpus_id)
            await asyncio.sleep(0.02)
        await container.close()

    with FolderLock(settings.data_dir):
        thread = threading.Thread(target=lambda: asyncio.run(work()))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of documents."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "ada.txt").write_text("Ada Lovelace wrote the first program with Charles Babbage.", encoding="utf-8")
    (folder / "engine.md").write_text(
        "# The Engine\n\nCharles Babbage designed the Analytical Engine in London.\n", encoding="utf-8"
    )
    return folder
