"""With the built-in weights."""

import asyncio
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidSettings
from core.ports.embedding import Embedder
from core.ports.embedding_form import EmbeddingForm
from models import SentenceTransformersEmbedder
from models.embedding.weights import BUILT_IN, resolve
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


async def test_a_cut_keeps_the_first_numbers_at_length_one(loaded: SentenceTransformersEmbedder):
    short = SentenceTransformersEmbedder(form=EmbeddingForm(dimension=64))
    assert (short.model, short.dimension) == (f"{BUILT_IN}?dimension=64", 64)
    whole = (await loaded.embed_passages(TEXTS[:3]))[:, :64]
    assert await short.embed_passages(TEXTS[:3]) == pytest.approx(
        whole / np.linalg.norm(whole, axis=1, keepdims=True), abs=1e-2
    )
    assert (await short.embed_query(TEXTS[0])).shape == (64,)
    with pytest.raises(InvalidSettings, match="has vectors of 384 dimensions"):
        _ = SentenceTransformersEmbedder(form=EmbeddingForm(dimension=500)).dimension


async def test_prefixes_of_the_settings_are_put_before_texts(loaded: SentenceTransformersEmbedder):
    prefixed = SentenceTransformersEmbedder(form=EmbeddingForm(query="query: ", passage="passage: "))
    assert prefixed.model == f"{BUILT_IN}?query=query:%20&passage=passage:%20"
    assert prefixed.tokens.max_tokens == loaded.tokens.max_tokens - 2
    assert await prefixed.embed_query(TEXTS[0]) == pytest.approx(await loaded.embed_query(f"query: {TEXTS[0]}"))
    [ours] = await prefixed.embed_passages([TEXTS[0]])
    assert ours == pytest.approx((await loaded.embed_passages([f"passage: {TEXTS[0]}"]))[0])


async def test_prompts_of_a_folder_are_used_and_are_a_part_of_the_name(
    loaded: SentenceTransformersEmbedder, tmp_path: Path
):
    source = resolve(BUILT_IN).folder
    assert source is not None
    shutil.copytree(source, tmp_path / "mine")
    own = tmp_path / "mine" / "config_sentence_transformers.json"
    own.write_text(json.dumps({"prompts": {"query": "ask: ", "passage": "told: ", "document": ""}}))
    mine = SentenceTransformersEmbedder(model=str(tmp_path / "mine"))
    assert mine.model.endswith("?query=ask:%20&passage=told:%20")
    assert await mine.embed_query(TEXTS[0]) == pytest.approx(await loaded.embed_query(f"ask: {TEXTS[0]}"))
    [ours] = await mine.embed_passages([TEXTS[0]])
    assert ours == pytest.approx((await loaded.embed_passages([f"told: {TEXTS[0]}"]))[0])
    without = SentenceTransformersEmbedder(model=str(tmp_path / "mine"), form=EmbeddingForm(query="", passage=""))
    assert without.model.endswith("?query=&passage=")
