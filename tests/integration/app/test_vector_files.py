"""Files of vectors of an installation: what the doctor says of them, and which it deletes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from app.container import Container
from app.doctor.corpus_check import examine_recall
from app.doctor.diagnosis import repair_all
from app.doctor.findings import Level
from core.corpora import Corpus, CorpusSettings, Fine
from core.ports.views import VectorBatch, VectorKind
from core.settings import Settings
from stores.sqlite.vectors.mapped import base
from testing.contracts.vector_store import names, unit_vectors
from tests.desk import CountingEmbedder

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
    corpus = await container.record.corpora.create("people", settings)
    vectors = unit_vectors(5000, dimension=64)
    batch = VectorBatch(ids=names(5000), documents=["d"] * 5000, vectors=vectors)
    await container.vectors.write(corpus.id, CHUNK, batch)
    await container.vectors.write(
        corpus.id, VectorKind.FACT, VectorBatch(ids=["f"], documents=[""], vectors=vectors[:1])
    )
    return corpus


async def test_the_doctor_measures_what_the_first_pass_finds(container: Container, corpus: Corpus) -> None:
    [finding] = await examine_recall(container, corpus)
    assert finding.subject == "corpus people: search of chunk vectors"
    assert (finding.level, finding.remedy) == (Level.OK, "")
    assert "of the ten nearest" in finding.detail


async def test_a_first_pass_that_misses_too_many_is_a_note(
    container: Container, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors without any order, and few candidates."""
    monkeypatch.setattr(base, "CANDIDATES", 20)
    monkeypatch.setattr(base, "_CANDIDATES_OF_A_RESULT", 1)
    [finding] = await examine_recall(container, corpus)
    assert finding.level is Level.NOTE
    assert "HOPWEAVE_STORE__EXACT_VECTORS=10000" in finding.remedy


async def test_the_remedy_compares_all_vectors(container: Container, corpus: Corpus, tmp_path: Path) -> None:
    await container.vectors.search(corpus.id, CHUNK, np.ones(64, dtype=np.float32), 1)
    await container.close()
    exact = Container(Settings(data_dir=tmp_path, store={"exact_vectors": 10_000}))
    assert len(list((tmp_path / "vectors").glob("*.base"))) == 1
    assert await examine_recall(exact, corpus) == []
    assert list((tmp_path / "vectors").glob("*.base")) == []
    await exact.close()


async def test_a_repair_deletes_files_with_deleted_vectors(
    container: Container, corpus: Corpus, tmp_path: Path
) -> None:
    await container.vectors.search(corpus.id, CHUNK, np.ones(64, dtype=np.float32), 1)
    repaired = [line async for line in repair_all(container)]  # the record names none of these vectors
    assert "vectors: 1 outdated files are gone" in repaired
    assert await asyncio.to_thread(lambda: list((tmp_path / "vectors").glob("*.base"))) == []
