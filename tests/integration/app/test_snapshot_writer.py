"""Snapshots of large corpora are written by a process of its own, and mapped by those that search."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.container import Container, adapters
from app.container.adapters import SnapshotWriter
from app.worker.embedded import Preparation
from core.corpora import Corpus
from core.errors import NotFound, Unavailable
from core.settings import read_settings
from retrieval.graph.snapshot_files import FilePolicy, SnapshotFiles
from retrieval.graph.snapshot_format import is_mapped
from testing.record import SETTINGS, delete, put

PASSAGES = 2_100
"""Snapshots of fewer than 2,000 have no file."""


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    opened = Container(read_settings(data_dir=tmp_path / "data"))
    yield opened
    await opened.close()


@pytest.fixture
async def corpus(container: Container) -> Corpus:
    corpus = await container.record.corpora.create("people", SETTINGS)
    texts = [(f"Person {n} met Ada.", (f"Person {n}", "Ada")) for n in range(PASSAGES)]
    await put(container.record, corpus, "book", texts)
    return corpus


def _writer(container: Container) -> SnapshotWriter:
    return SnapshotWriter(container.settings.data_dir, container.record.corpora, least_chunks=PASSAGES)


async def test_a_search_maps_what_another_process_has_written(
    container: Container, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = container.make_snapshots(_writer(container))
    monkeypatch.setattr(container.record.graph, "graph", None)  # this process must not build it
    snapshot = await snapshots.get(corpus.id)
    assert snapshot.whole.passages == PASSAGES
    assert is_mapped(snapshot.whole.adjacency.indices)


async def test_it_says_whether_there_is_a_file(
    container: Container, corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    assert await _writer(container).write(corpus.id)
    assert not await SnapshotWriter(container.settings.data_dir, container.record.corpora).write(corpus.id)
    assert not caplog.records


async def test_it_is_written_ahead_once(container: Container, corpus: Corpus) -> None:
    snapshots = container.make_snapshots(_writer(container))
    await snapshots.prepare(corpus.id)
    [file] = (container.settings.data_dir / "snapshots").glob("*.graph")
    before = file.stat()
    await snapshots.prepare(corpus.id)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_a_file_that_lacks_much_is_written_again(container: Container, corpus: Corpus) -> None:
    """So that the first search after a large ingest into a corpus that has a file follows nothing."""
    snapshots = container.make_snapshots(_writer(container))
    await snapshots.prepare(corpus.id)
    [file] = (container.settings.data_dir / "snapshots").glob("*.graph")
    before = file.stat().st_ino
    texts = [(f"Someone {n} met Bob.", ("Bob",)) for n in range(FilePolicy().lacking_chunks + 1)]
    await put(container.record, corpus, "more", texts)
    await snapshots.prepare(corpus.id)
    assert file.stat().st_ino != before
    files = SnapshotFiles(container.record.graph, container.settings.data_dir / "snapshots")
    assert not await files.is_behind(corpus.id)
    mapped = await files.open(corpus.id, lambda *_: None)
    assert mapped is not None
    assert mapped.generation == await container.record.graph.generation(corpus.id)
    assert is_mapped(mapped.whole.adjacency.indices)
    assert mapped.whole.passages == PASSAGES + len(texts)


async def test_a_worker_has_it_written_in_the_background(container: Container, corpus: Corpus) -> None:
    Preparation(container.make_snapshots(_writer(container))).add(corpus.id)
    async with asyncio.timeout(300):
        while not list((container.settings.data_dir / "snapshots").glob("*.graph")):  # noqa: ASYNC110 - a process writes it
            await asyncio.sleep(0.05)


async def test_a_small_corpus_is_left_to_those_who_search(container: Container, corpus: Corpus) -> None:
    await put(container.record, corpus, "more", [("Bob met Ada.", ("Bob", "Ada"))])
    await delete(container.record, corpus, "book")
    snapshots = container.make_snapshots(_writer(container))
    await snapshots.prepare(corpus.id)
    assert not (container.settings.data_dir / "snapshots").exists()
    assert (await snapshots.get(corpus.id)).whole.passages == 1


async def test_a_killed_process_is_told_with_the_remedy(
    container: Container, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters, "_MODULE", "tests.integration.app.killed_process")
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    with pytest.raises(Unavailable, match="memory is short"):
        await container.make_snapshots(_writer(container)).get(corpus.id)


async def test_what_fails_apart_is_built_here(
    container: Container, corpus: Corpus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(adapters, "_MODULE", "no.such.module")
    snapshot = await container.make_snapshots(_writer(container)).get(corpus.id)
    assert snapshot.whole.passages == PASSAGES
    assert "No module named 'no'" in caplog.text


async def test_a_missing_corpus_is_told_as_before(container: Container) -> None:
    with pytest.raises(NotFound):
        await container.make_snapshots(_writer(container)).get("0" * 32)
