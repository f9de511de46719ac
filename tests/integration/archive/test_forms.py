"""Corpora that leave something out, or whose embeddings came with the documents, are the same after a round trip."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.corpora import Fine
from core.ports.views import VectorKind
from tests.integration.archive.conftest import MakeHouse
from tests.integration.archive.house import PEOPLE, House

FORMS = {
    "without vectors": {"embedding": "none", "fine": Fine.AUTO},
    "without a graph": {"extractor": "none"},
    "without both": {"embedding": "none", "extractor": "none", "fine": Fine.AUTO},
    "with ready embeddings": {},
}
FOUND_BY = {
    "without vectors": {"sparse", "graph", "bridged"},
    "without a graph": {"dense", "sparse", "bridged"},
    "without both": {"sparse", "bridged"},
    "with ready embeddings": {"dense", "sparse", "graph", "bridged"},
}


def _documents(form: str) -> list[Mapping[str, Any]]:
    """Each ready embedding lies along an axis of its own, where the model would put no passage."""
    if form != "with ready embeddings":
        return list(PEOPLE)
    axes = np.eye(64)
    given = [one for one in PEOPLE if one.get("text")]
    return [{**one, "embedding": axes[n].tolist(), "embedding_model": "twin"} for n, one in enumerate(given)]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def formed(make_house: MakeHouse, form: str) -> House:
    house = make_house("formed")
    corpus = await house.corpus("formed", **FORMS[form])
    await house.ingest(corpus, *_documents(form))
    return house


async def test_a_backup_and_an_export_have_the_form(
    form: str, formed: House, there: House, make_house: MakeHouse, tmp_path: Path
) -> None:
    state = await formed.state("formed")
    assert set(state["found"]) == FOUND_BY[form]
    assert all(state["found"].values()), "a search that finds nothing says nothing"
    [done] = await formed.back_up(tmp_path / "all.backup")
    assert done.missing_vectors == 0
    await there.restore(tmp_path / "all.backup")
    elsewhere = make_house("elsewhere")
    await formed.export("formed", tmp_path / "formed.jsonl")
    assert not (await elsewhere.take_in(tmp_path / "formed.jsonl", "formed")).notes
    for after in (there, elsewhere):
        assert await after.state("formed") == state
        assert after.embedder.embedded == 0


async def test_ready_embeddings_are_those_of_the_documents(make_house: MakeHouse, tmp_path: Path) -> None:
    house, there = make_house("ready"), make_house("there")
    corpus = await house.corpus("ready", extractor="none", fine=Fine.OFF)
    await house.ingest(corpus, *_documents("with ready embeddings"))
    await house.back_up(tmp_path / "all.backup")
    await there.restore(tmp_path / "all.backup")
    vectors, restored = there.container.vectors, await there.named("ready")
    found = await vectors.fetch(restored.id, VectorKind.CHUNK, await vectors.ids(restored.id, VectorKind.CHUNK))
    rows = sorted(vector.tolist() for vector in found.values())
    assert rows == sorted(np.eye(64)[: len(rows)].tolist())
    assert (house.embedder.embedded, there.embedder.embedded) == (0, 0)
