"""Files of snapshots and of vectors of an installation: which are deleted when, and what the doctor says of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from app.container import Container
from app.doctor.diagnosis import examine_recall, repair_all
from app.doctor.findings import Level
from app.services import corpora, warming
from app.services.warming import clean_snapshots, follow_recent
from core.corpora import Corpus, CorpusSettings, Fine
from core.ports.record.graph import GraphMerge, graph_rows
from core.ports.views import VectorBatch, VectorKind
from core.settings import Settings
from retrieval.graph.snapshot import build_snapshot
from retrieval.graph.snapshot_folder import SnapshotFolder
from retrieval.graph.snapshot_format import encode_snapshot
from stores.sqlite.vectors.mapped import base
from testing.contracts.vector_store import names, unit_vectors
from tests.desk import CountingEmbedder

UNKNOWN = "fedcba9876543210"
CHUNK = VectorKind.CHUNK


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    container = Container(Settings(data_dir=tmp_path, store={"exact_vectors": 100}))
    container.embedder = CountingEmbedder()
    yield container
    await container.close()


@pytest.fixture
async def corpus(container: Container) -> Corpus:
    settings = CorpusSettings(
        chunker="sentences", extractor="pattern", fine=Fine.OFF, embedding_model="twin", dimension=64
    )
    return await container.record.corpora.create("people", settings)


async def write_file(container: Container, corpus_id: str) -> SnapshotFolder:
    """An empty snapshot, of the generation of a corpus in which nothing was indexed."""
    folder = SnapshotFolder(container.settings.data_dir / "snapshots")
    await asyncio.to_thread(folder.write, encode_snapshot(corpus_id, build_snapshot(0, graph_rows())))
    return folder


# --- snapshots


async def test_a_corpus_is_deleted_with_its_file(container: Container, corpus: Corpus) -> None:
    folder = await write_file(container, corpus.id)
    assert folder.list_corpora() == [corpus.id]
    await corpora.delete(container, "people")
    assert folder.list_corpora() == []


async def test_a_server_deletes_files_of_unknown_corpora_at_its_start(container: Container, corpus: Corpus) -> None:
    folder = await write_file(container, corpus.id)
    await write_file(container, UNKNOWN)
    cleaning = asyncio.create_task(clean_snapshots(container))
    left = folder.list_corpora()
    while UNKNOWN in left:
        await asyncio.sleep(0.01)
        left = folder.list_corpora()
    cleaning.cancel()
    assert folder.list_corpora() == [corpus.id]


async def test_a_server_follows_what_nobody_searches(
    container: Container, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "_FOLLOW_SECONDS", 0.01)

    async def await_generation(wanted: int) -> None:
        async with asyncio.timeout(120):
            while True:
                entry = container.snapshots._corpora.get(corpus.id)
                if entry is not None and entry.snapshot is not None and entry.snapshot.generation == wanted:
                    return
                await asyncio.sleep(0.01)

    following = asyncio.create_task(follow_recent(container))
    await await_generation(0)
    await container.record.corpora.create("letters", corpus.settings)
    await container.record.merges.adopt(corpus.id, [GraphMerge("1" * 32, "one", "2" * 32, "two")])
    await await_generation(1)
    following.cancel()


async def test_the_repair_names_what_it_deletes(container: Container, corpus: Corpus) -> None:
    folder = await write_file(container, corpus.id)
    await write_file(container, UNKNOWN)
    lines = [line async for line in repair_all(container)]
    assert lines == ["snapshots: 1 outdated files are gone"]
    assert folder.list_corpora() == [corpus.id]
    assert [line async for line in repair_all(container)] == []
    await container.record.merges.adopt(corpus.id, [GraphMerge("1" * 32, "one", "2" * 32, "two")])
    assert await container.snapshots.clean() == [], "changes bring it up to date"
    assert [line async for line in repair_all(container)] == lines


async def test_without_the_setting_no_file_is_used(tmp_path: Path) -> None:
    container = Container(Settings(data_dir=tmp_path, store={"mapped_snapshots": False}))
    folder = await write_file(container, UNKNOWN)
    assert await container.snapshots.clean() == []
    assert folder.list_corpora() == [UNKNOWN]
    assert container.snapshots._files is None
    await container.close()


# --- vectors


@pytest.fixture
async def written(container: Container, corpus: Corpus) -> Corpus:
    """With more vectors than are compared one by one."""
    vectors = unit_vectors(5000, dimension=64)
    batch = VectorBatch(ids=names(5000), documents=["d"] * 5000, vectors=vectors)
    await container.vectors.write(corpus.id, CHUNK, batch)
    one = VectorBatch(ids=["f"], documents=[""], vectors=vectors[:1])
    await container.vectors.write(corpus.id, VectorKind.FACT, one)
    return corpus


async def test_the_doctor_measures_what_the_first_pass_finds(container: Container, written: Corpus) -> None:
    [finding] = await examine_recall(container, written)
    assert finding.subject == "corpus people: search of chunk vectors"
    assert (finding.level, finding.remedy) == (Level.OK, "")
    assert "of the ten nearest" in finding.detail


async def test_a_first_pass_that_misses_too_many_is_a_note(
    container: Container, written: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors without any order, and few candidates."""
    monkeypatch.setattr(base, "CANDIDATES", 20)
    monkeypatch.setattr(base, "_CANDIDATES_OF_A_RESULT", 1)
    [finding] = await examine_recall(container, written)
    assert finding.level is Level.NOTE
    assert "HOPWEAVE_STORE__EXACT_VECTORS=10000" in finding.remedy


async def test_the_remedy_compares_all_vectors(container: Container, written: Corpus, tmp_path: Path) -> None:
    await container.vectors.search(written.id, CHUNK, np.ones(64, dtype=np.float32), 1)
    await container.close()
    exact = Container(Settings(data_dir=tmp_path, store={"exact_vectors": 10_000}))
    assert len(list((tmp_path / "vectors").glob("*.base"))) == 1
    assert await examine_recall(exact, written) == []
    assert list((tmp_path / "vectors").glob("*.base")) == []
    await exact.close()


async def test_a_repair_deletes_files_with_deleted_vectors(
    container: Container, written: Corpus, tmp_path: Path
) -> None:
    await container.vectors.search(written.id, CHUNK, np.ones(64, dtype=np.float32), 1)
    repaired = [line async for line in repair_all(container)]  # the record names none of these vectors
    assert "vectors: 1 outdated files are gone" in repaired
    assert await asyncio.to_thread(lambda: list((tmp_path / "vectors").glob("*.base"))) == []
