"""What is set of Milvus' index: checked, handed on, and told by `doctor` where a corpus was made with another."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.container import Container
from app.doctor.diagnosis import CorpusExamination
from app.services.corpora import create
from core.errors import InvalidSettings
from core.ports.views import VectorBatch, VectorKind
from core.settings import read_settings
from stores.milvus import MilvusVectorStore
from tests.twins.embedder import TwinEmbedder


def settings_of(milvus: Mapping[str, Any], folder: Path) -> Any:
    return read_settings(data_dir=folder, store={"vectors": "milvus"}, milvus=milvus)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MILVUS__EXACT_ROWS", "-1"),
        ("MILVUS__INDEX", "IVF_FLAT"),
        ("MILVUS__HNSW__M", "3"),
        ("MILVUS__HNSW__M", "65"),
        ("MILVUS__HNSW__EF_CONSTRUCTION", "513"),
        ("MILVUS__HNSW__EF", "0"),
        ("MILVUS__HNSW__EFF", "100"),
    ],
)
def test_what_milvus_cannot_have_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"HOPWEAVE_{name}", value)
    with pytest.raises(InvalidSettings, match=f"HOPWEAVE_{name}"):
        read_settings()


async def test_what_is_set_is_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("STORE__VECTORS", "milvus"), ("MILVUS__EXACT_ROWS", "7"), ("MILVUS__HNSW__EF", "64")):
        monkeypatch.setenv(f"HOPWEAVE_{name}", value)
    container = Container(read_settings(data_dir=tmp_path))
    vectors = container.vectors
    assert isinstance(vectors, MilvusVectorStore)
    # What a search makes of the two can be seen on a server only, and there in its time.
    assert vectors._exact_rows == 7
    assert vectors._index.search == {"ef": 64}
    await container.close()


@pytest.mark.servers
@pytest.mark.parametrize(
    ("server", "there"),
    [
        ("milvus_server", ["HNSW (M=8, efConstruction=100)"] * 2),
        ("milvus_lite_server", ["HNSW"]),  # it does not tell the parameters
    ],
)
async def test_an_index_that_is_changed_is_told_and_still_serves(
    request: pytest.FixtureRequest, server: str, there: list[str], tmp_path: Path
) -> None:
    uri = request.getfixturevalue(server).uri
    other = {"uri": uri, "index": "HNSW", "hnsw": {"m": 8, "ef_construction": 100}}
    told: list[str] = []
    for milvus in (other, {"uri": uri}, {"uri": uri, "index": "FLAT"}):
        container = Container(settings_of({**milvus, "exact_rows": 0}, tmp_path))
        container.embedder = TwinEmbedder()
        if milvus is other:
            await create(container, "people")
        corpus = await container.record.corpora.get("people")
        vectors = np.eye(corpus.settings.dimension, dtype=np.float32)[:3]
        batch = VectorBatch(ids=["a", "b", "c"], documents=["d"] * 3, vectors=vectors)
        await container.vectors.write(corpus.id, VectorKind.CHUNK, batch)
        found = await container.vectors.search(corpus.id, VectorKind.CHUNK, vectors[1], 1)
        assert [one.id for one in found] == ["b"]
        examination = CorpusExamination(container, corpus, waiting=False)
        findings = [finding async for finding in examination.findings()]
        told += [finding.detail for finding in findings if finding.subject == "corpus people: index"]
        if milvus.get("index") == "FLAT":
            await container.vectors.delete_corpus(corpus.id)
        await container.close()
    assert [detail.partition(":")[0] for detail in told] == [f"vectors of kind chunk lie under {one}" for one in there]
