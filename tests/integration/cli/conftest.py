"""The command line in this process, with the real stores, the embedder's twin and a worker in a thread."""

import asyncio
import json
import logging
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import app.container.adapters
from app.container import Container
from app.supervision.folder_lock import FolderLock
from cli.main import run
from core.settings import read_settings
from indexer import Worker, WorkerOptions
from tests.twins.chat_server import ChatServer
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
Ingested = Callable[..., Path]


@pytest.fixture
def hopweave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hopweave:
    """Runs `hopweave ARGUMENTS…`; an exception that reaches the user as a traceback fails the test."""
    _work_in(tmp_path, monkeypatch)
    monkeypatch.setattr(logging.getLogger(), "handlers", [*logging.getLogger().handlers])  # `serve` sets its own

    def command(*arguments: object) -> Ran:
        capsys.readouterr()
        code = _run(monkeypatch, *arguments)
        out, err = capsys.readouterr()
        return Ran(code=code, out=out, err=err)

    return command


def _work_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(folder / "data"))
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: TwinEmbedder())


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Returns the exit code."""
    monkeypatch.setattr(sys, "argv", ["hopweave", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        run()
    assert isinstance(ended.value.code, int | None)
    return ended.value.code or 0


def use_model(monkeypatch: pytest.MonkeyPatch, chat: ChatServer, **more: str) -> None:
    """Sets the settings of a language model that is asked once a call."""
    settings = {
        "BASE_URL": chat.url,
        "API_KEY": "sk-a-key-that-nobody-may-see",
        "MODEL": "twin",
        "RETRIES": "0",
        **more,
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"HOPWEAVE_LLM__{name}", value)


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


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """Returns the data folder that `hopweave ingest papers ARGUMENTS…` writes. Each is written once, and copied."""

    @cache
    def ingest(*arguments: str) -> Path:
        folder = tmp_path_factory.mktemp("ingested")
        with pytest.MonkeyPatch.context() as monkeypatch:
            _work_in(folder, monkeypatch)
            with working():
                assert _run(monkeypatch, "ingest", _write_papers(folder), *arguments) == 0
        return folder / "data"

    return ingest


@pytest.fixture
def corpus(hopweave: Hopweave, ingested: Ingested, tmp_path: Path) -> Iterator[str]:  # noqa: ARG001 - it sets the data folder
    """The corpus `papers`, and a worker."""
    shutil.copytree(ingested("-c", "papers"), tmp_path / "data")
    with working():
        yield "papers"


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder of documents."""
    return _write_papers(tmp_path)


def _write_papers(parent: Path) -> Path:
    folder = parent / "papers"
    folder.mkdir()
    (folder / "ada.txt").write_text("Ada Lovelace wrote the first program with Charles Babbage.", encoding="utf-8")
    (folder / "engine.md").write_text(
        "# The Engine\n\nCharles Babbage designed the Analytical Engine in London.\n", encoding="utf-8"
    )
    return folder
