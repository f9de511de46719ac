"""Against sentence-transformers itself, which takes long to import."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from models import SentenceTransformersEmbedder
from models.embedding.local_embedder import SentenceTransformerEncoder
from models.embedding.weights import BUILT_IN, resolve
from testing.contracts.embedder import TEXTS, EmbedderContract

pytestmark = pytest.mark.slow
LONG = [*TEXTS, "", "word " * 1_000, "An accented café, a naïve façade, and 12,345.67 €."]


def _folder() -> Path:
    folder = resolve(BUILT_IN).folder
    assert folder is not None
    return folder


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformersEmbedder:
    """The built-in weights with prompts."""
    folder = tmp_path_factory.mktemp("models") / "prompted"
    shutil.copytree(_folder(), folder)
    own = folder / "config_sentence_transformers.json"
    config = json.loads(own.read_text(encoding="utf-8"))
    own.write_text(json.dumps({**config, "prompts": {"query": "question: ", "document": "passage: "}}))
    return SentenceTransformersEmbedder(model=str(folder), precision="float32")


class TestPromptedModel(EmbedderContract):
    @pytest.fixture
    def embedder(self, prompted: SentenceTransformersEmbedder) -> SentenceTransformersEmbedder:
        return prompted


@pytest.mark.parametrize(("precision", "least"), [("float32", 0.99999), ("bfloat16", 0.999)])
async def test_our_vectors_are_those_of_sentence_transformers(precision: str, least: float):
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(_folder()), device="cpu").encode(LONG)
    ours = await SentenceTransformersEmbedder(precision=precision).embed_passages(LONG)
    assert np.einsum("ij,ij->i", ours, theirs).min() > least


async def test_questions_and_passages_get_their_prompts(prompted: SentenceTransformersEmbedder):
    plain = SentenceTransformersEmbedder(precision="float32")
    for embedder in (prompted, plain):
        assert not isinstance(await _loaded(embedder), SentenceTransformerEncoder), "neither needs torch"
    asked = await plain.embed_query("question: " + TEXTS[0])
    told = await plain.embed_query("passage: " + TEXTS[0])
    assert await prompted.embed_query(TEXTS[0]) @ asked == pytest.approx(1, abs=1e-4)
    assert (await prompted.embed_passages([TEXTS[0]]))[0] @ told == pytest.approx(1, abs=1e-4)
    assert asked @ told < 0.999


def test_prompts_are_a_part_of_the_name(prompted: SentenceTransformersEmbedder):
    assert prompted.model == "prompted@53aa51172d14?query=question:%20&passage=passage:%20"
    assert prompted.dimension == 384


async def _loaded(embedder: SentenceTransformersEmbedder) -> object:
    await embedder.warm()
    return embedder._loaded
