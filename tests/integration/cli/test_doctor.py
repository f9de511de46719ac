"""`hopweave doctor`: silent faults are found and named."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import app.container.adapters
from app.container import Container
from core.ports.views import TextEntry, VectorKind
from core.settings import read_settings
from tests.integration.cli.conftest import Hopweave
from tests.twins.embedder import TwinEmbedder

pytestmark = pytest.mark.usefixtures("worker")


def change(work: Callable[[Container, str], Awaitable[object]]) -> None:
    """Do something to the stores behind the record's back."""

    async def run() -> None:
        container = Container(read_settings())
        await work(container, (await container.record.corpora.get("p")).id)
        await container.close()

    asyncio.run(run())


def problems(hopweave: Hopweave) -> list[str]:
    ran = hopweave("doctor", "--json")
    found = [finding for finding in ran.json["findings"] if finding["level"] == "problem"]
    assert ran.code == (1 if found else 0)
    assert ran.json["healthy"] is not bool(found)
    return [f"{finding['subject']}: {finding['detail']}" for finding in found]


def test_all_is_well(hopweave: Hopweave, papers: Path) -> None:
    assert problems(hopweave) == []
    hopweave("ingest", papers, "-c", "p", "--fine", "on")
    assert problems(hopweave) == []
    ran = hopweave("doctor")
    assert "holds the folder and is alive" in ran.out
    assert ran.out.endswith("all is well\n")


def test_a_missing_vector(hopweave: Hopweave, papers: Path) -> None:
    hopweave("ingest", papers, "-c", "p")

    async def lose(container: Container, corpus: str) -> None:
        chunks = (await container.record.graph.graph(corpus))[1].chunks
        await container.vectors.delete(corpus, VectorKind.CHUNK, [chunks[0][2]])

    change(lose)
    (problem,) = problems(hopweave)
    assert problem.startswith("corpus p: chunk vectors: 2 named by the record, 1 held; 1 are missing")


def test_an_orphan_in_the_text_index(hopweave: Hopweave, papers: Path) -> None:
    hopweave("ingest", papers, "-c", "p")

    async def stray(container: Container, corpus: str) -> None:
        await container.text.write(corpus, [TextEntry(id="ab" * 16, document_id="cd" * 16, text="stray")])

    change(stray)
    (problem,) = problems(hopweave)
    assert problem.startswith("corpus p: text entries: 2 named by the record, 3 held; 1 are named by nothing")


def test_another_embedding_model(hopweave: Hopweave, papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hopweave("ingest", papers, "-c", "p")
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: TwinEmbedder(model="other"))
    (problem,) = problems(hopweave)
    assert "HOPWEAVE_EMBEDDING__MODEL" in problem


def test_a_store_that_is_down(hopweave: Hopweave, tmp_path: Path, papers: Path) -> None:
    hopweave("ingest", papers, "-c", "p")
    (tmp_path / "data" / "vectors.db").unlink()
    (tmp_path / "data" / "vectors.db").mkdir()
    assert any(problem.startswith("store vectors: ") for problem in problems(hopweave))
