"""`hopweave ingest --watch` with real files, a real record and a worker; changes are made beside the command."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from app.container import Container
from cli.output import console
from core.settings import read_settings
from tests.integration.cli.conftest import Hopweave, Ran
from tests.integration.cli.test_remote_ingest import serving
from tests.twins.embedder import TwinEmbedder

pytestmark = pytest.mark.usefixtures("worker")

PATIENCE_SECONDS = 120.0
Watching = Callable[..., Ran]


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """They decide how long a test takes, and not what it finds."""
    monkeypatch.setattr("cli.flows.watching._QUIET_SECONDS", 0.2)
    monkeypatch.setattr("cli.flows.watching._ABSENT_SECONDS", 0.2)


EACH_WAY = pytest.mark.parametrize("watching", ["local", "server", "poll"], indirect=True)
"""The ways differ in how changes are heard of and sent, not in what is done with them: two stories show that."""


@pytest.fixture
def watching(hopweave: Hopweave, request: pytest.FixtureRequest) -> Watching:
    """Runs the command while `steps` changes files and waits for documents, and then interrupts it."""
    way = getattr(request, "param", "local")

    def run(folder: Path, steps: Callable[[], None], *options: object) -> Ran:
        arguments = ["ingest", "--watch", folder, "-c", "w", *options]
        if way == "poll":
            arguments += ["--poll", "0.5"]
        if way != "server":
            return _beside(steps, lambda: hopweave(*arguments))
        with serving() as url:
            return _beside(steps, lambda: hopweave(*arguments, "--server", url))

    return run


def _beside(steps: Callable[[], None], command: Callable[[], Ran]) -> Ran:
    failures: list[BaseException] = []

    def change() -> None:
        try:
            steps()
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's thread
            failures.append(error)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=change)
    thread.start()
    ran = command()
    thread.join()
    if failures:
        raise AssertionError(f"{failures[0]!r}: {ran.out}\n{ran.err}") from failures[0]
    return ran


class Said:
    """What the command has printed so far. `wait_for` waits for a line after those that it has found before."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._next = 0

    def wait_for(self, *starts: str) -> None:
        """Waits for lines with these beginnings, in this order."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        for start in starts:
            while not self._find(start):
                assert time.monotonic() < deadline, f"no line {start!r} after {self.lines[: self._next]}: {self.lines}"
                time.sleep(0.02)

    def _find(self, start: str) -> bool:
        for place in range(self._next, len(self.lines)):
            if self.lines[place].startswith(start):
                self._next = place + 1
                return True
        return False


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    said = Said()
    write = console._write

    def listen(stream: TextIO, text: str) -> None:
        write(stream, text)
        said.lines.append(text)

    monkeypatch.setattr(console, "_write", listen)
    return said


def keys() -> list[str]:
    """The keys of the documents of the corpus."""

    async def read() -> list[str]:
        container = Container(read_settings())
        corpus = await container.record.corpora.get("w")
        page = await container.record.documents.list(corpus.id, limit=100)
        await container.close()
        return [one.key for one in page.data]

    return asyncio.run(read())


@EACH_WAY
def test_new_changed_moved_and_deleted_files(watching: Watching, said: Said, papers: Path, tmp_path: Path) -> None:
    def steps() -> None:
        said.wait_for("watching")
        (papers / "sub").mkdir()
        (papers / "sub" / "new.txt").write_text("Gustave Eiffel built a tower.", encoding="utf-8")
        said.wait_for("new: sub/new.txt: 1 passage")
        (papers / "ada.txt").write_text("Ada Lovelace lived in London.", encoding="utf-8")
        said.wait_for("changed: ada.txt: 1 passage")
        (papers / "sub" / "new.txt").rename(papers / "sub" / "other.txt")
        said.wait_for("new: sub/other.txt: 1 passage", "deleted: sub/new.txt")
        (papers / "sub").rename(tmp_path / "outside")
        said.wait_for("deleted: sub/other.txt")
        (tmp_path / "outside").rename(papers / "inside")
        said.wait_for("new: inside/other.txt: 1 passage")
        (papers / ".gitignore").write_text("engine.*\n", encoding="utf-8")
        said.wait_for("deleted: engine.md")
        (papers / "ada.txt").unlink()
        said.wait_for("deleted: ada.txt")

    ran = watching(papers, steps)
    assert ran.code == 130, ran.err
    assert ran.out.startswith("corpus w: 2 indexed, 0 pruned\n")
    assert len(ran.out.splitlines()) == 2 + 8, "a line for each change"
    assert ran.err.endswith("stopped; nothing is lost: the same command goes on from here\n")
    assert keys() == ["inside/other.txt"]


@EACH_WAY
def test_a_folder_that_is_gone_keeps_its_documents(
    watching: Watching, said: Said, papers: Path, tmp_path: Path
) -> None:
    def steps() -> None:
        said.wait_for("watching")
        papers.rename(tmp_path / "away")
        said.wait_for(f"out of reach: {papers}: it is gone; its documents are kept")
        assert keys() == ["ada.txt", "engine.md"]
        (tmp_path / "away" / "new.txt").write_text("Written meanwhile.", encoding="utf-8")
        (tmp_path / "away").rename(papers)
        said.wait_for(f"within reach again: {papers}", "new: new.txt")
        (papers / "ada.txt").unlink()
        said.wait_for("deleted: ada.txt")

    watching(papers, steps)
    assert keys() == ["engine.md", "new.txt"]


def test_a_restart_catches_up_and_embeds_nothing_twice(
    watching: Watching, said: Said, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching(papers, lambda: said.wait_for("watching"))
    embedded: list[str] = []
    embed = TwinEmbedder.embed_passages

    async def count(self: TwinEmbedder, texts: list[str]) -> object:
        embedded.extend(texts)
        return await embed(self, texts)

    monkeypatch.setattr(TwinEmbedder, "embed_passages", count)
    (papers / "ada.txt").unlink()
    (papers / "new.txt").write_text("Written while nobody watched.", encoding="utf-8")
    ran = watching(papers, lambda: said.wait_for("watching"))
    assert "1 indexed, 1 unchanged, 1 pruned" in ran.out
    assert len(embedded) == 1


def test_a_file_that_is_rejected_or_fails_is_told_once(watching: Watching, said: Said, papers: Path) -> None:
    def steps() -> None:
        said.wait_for("watching")
        (papers / "photo.png").write_bytes(b"?")
        (papers / "broken.txt").write_bytes(b"%PDF-1.7")
        said.wait_for("failed: broken.txt: 'broken.txt' is a PDF file")
        (papers / "photo.png").unlink()
        (papers / "last.txt").write_text("The last one.", encoding="utf-8")
        said.wait_for("new: last.txt")

    ran = watching(papers, steps)
    assert ran.err.count("rejected: photo.png: ") == 1
    assert ran.err.count("failed: broken.txt: ") == 1
    assert "deleted" not in ran.out, "there was no document photo.png"


def test_an_empty_folder_waits_for_its_first_file(watching: Watching, said: Said, tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()

    def steps() -> None:
        said.wait_for(f"out of reach: {folder}: it has no documents", "watching")
        (folder / "a.txt").write_text("The first.", encoding="utf-8")
        said.wait_for("new: a.txt")

    assert watching(folder, steps).code == 130


def test_a_corpus_that_is_deleted_meanwhile_is_made_again_whole(watching: Watching, said: Said, papers: Path) -> None:
    async def delete() -> None:
        container = Container(read_settings())
        await container.record.corpora.delete("w")
        await container.close()

    def steps() -> None:
        said.wait_for("watching")
        asyncio.run(delete())
        (papers / "new.txt").write_text("The newest.", encoding="utf-8")
        said.wait_for("corpus w is another one than before: comparing everything with it", "corpus w: 3 indexed")

    watching(papers, steps)


def test_a_server_that_goes_away_and_comes_back(hopweave: Hopweave, said: Said, papers: Path) -> None:
    with serving() as url:
        hopweave("ingest", papers, "-c", "w", "--server", url)

    def steps() -> None:
        said.wait_for(f"no Hopweave server answers at {url}")
        (papers / "new.txt").write_text("Written meanwhile.", encoding="utf-8")
        with serving(port=int(url.rpartition(":")[2])):
            said.wait_for("corpus w: 1 indexed, 2 unchanged, 0 pruned")

    ran = _beside(steps, lambda: hopweave("ingest", "--watch", papers, "-c", "w", "--server", url))
    assert (ran.code, ran.err.count("trying again until it is possible")) == (130, 1)


def test_what_cannot_be_watched_is_told(hopweave: Hopweave, papers: Path, tmp_path: Path) -> None:
    """A file of one document would be all that the corpus is to hold."""
    for arguments, code, message in (
        ((papers, "--watch", "--json"), 2, "--json does not work with --watch"),
        ((papers, "--watch", "--dry-run"), 2, "--dry-run does not work with --watch"),
        ((papers, "--watch", "--on-conflict", "error"), 2, "--on-conflict error does not work with --watch"),
        ((papers, "--poll", "5"), 2, "--poll is for --watch"),
        ((tmp_path / "nowhere", "--watch"), 1, "there is no file or folder"),
        ((papers / "ada.txt", "--watch"), 2, "--watch would delete every document but"),
    ):
        ran = hopweave("ingest", *arguments, "-c", "w")
        assert (ran.code, message in ran.err) == (code, True), ran.err
