"""With the built-in weights."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidSettings
from core.ports.embedding import Embedder
from models import SentenceTransformersEmbedder
from models.embedding.weights import BUILT_IN
from testing.contracts.embedder import TEXTS, EmbedderContract


@pytest.fixture(scope="module")
def loaded() -> SentenceTransformersEmbedder:
    """Loaded once: the port has no state that a test could leave behind."""
    return SentenceTransformersEmbedder()


class TestSentenceTransformersEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, loaded: SentenceTransformersEmbedder) -> Embedder:
        return loaded


async def test_warming_loads_the_model_once_for_all(loaded: SentenceTransformersEmbedder):
    await asyncio.gather(loaded.warm(), loaded.warm())
    encoder = loaded._loaded
    await loaded.warm()
    assert encoder is not None
    assert loaded._loaded is encoder


def test_event_loops_may_come_and_go(loaded: SentenceTransformersEmbedder):
    vectors = [asyncio.run(loaded.embed_query(TEXTS[0])) for _ in range(2)]
    assert vectors[0] == pytest.approx(vectors[1])


async def test_precisions_differ_by_noise():
    exact = await SentenceTransformersEmbedder(precision="float32").embed_passages(TEXTS)
    rounded = await SentenceTransformersEmbedder(precision="bfloat16").embed_passages(TEXTS)
    assert np.einsum("ij,ij->i", exact, rounded) == pytest.approx(1, abs=1e-3)
    assert not np.array_equal(exact, rounded)


async def test_what_is_past_the_models_reach_changes_nothing(loaded: SentenceTransformersEmbedder):
    reads = loaded.tokens.max_tokens
    whole, longer, shorter = await loaded.embed_passages(
        ["word " * reads, "word " * reads + "end", "word " * 9 + "end"]
    )
    assert whole @ longer == pytest.approx(1, abs=1e-3)
    assert whole @ shorter < 0.99


async def test_weights_that_are_no_model_are_named(tmp_path: Path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"these are no weights")
    embedder = SentenceTransformersEmbedder(model=str(folder))
    with pytest.raises(InvalidSettings, match=r"mine.*cannot be loaded: name the built-in model"):
        await embedder.embed_query("a question")


async def test_a_hub_name_that_is_not_on_disk_is_named():
    embedder = SentenceTransformersEmbedder(model="nobody/has-this-model")
    assert embedder.model == "nobody/has-this-model"
    with pytest.raises(InvalidSettings, match=r"nobody/has-this-model.*cannot be loaded: name the built-in model"):
        await embedder.embed_query("a question")


def test_the_default_is_the_built_in_model(loaded: SentenceTransformersEmbedder):
    assert (loaded.model, loaded.dimension, loaded.tokens.max_tokens) == (BUILT_IN, 384, 254)
