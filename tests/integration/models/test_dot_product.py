"""Dot products beside cosines: by a model in this process and at an endpoint, and over the store."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from core.corpora import CorpusSettings, Fine
from core.errors import InvalidSettings, ModelFailed
from core.ports.embedding import Embedder, Vectors
from core.ports.embedding_form import EmbeddingForm
from core.settings import EmbeddingSettings
from core.trace import Trace
from indexer import has_fine_vectors
from models import OpenAIEmbedder, SentenceTransformersEmbedder, make_embedder
from models.embedding.normalize import lift, lift_questions
from models.embedding.weights import BUILT_IN
from testing.contracts.embedder import TEXTS
from testing.contracts.searcher import PASSAGES, QUESTION
from tests.integration.models.test_reranking import make_encoder
from tests.searching import open_world
from tests.twins.embedder import TwinEmbedder
from tests.twins.embedding_server import EmbeddingServer


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """Its vectors are three units long."""
    with EmbeddingServer() as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with mean pooling whose vectors differ in length, as those of Contriever do."""
    return make_encoder(tmp_path_factory.mktemp("mean"))


def test_lifted_vectors_have_length_one_and_rank_by_the_dot_product() -> None:
    random = np.random.default_rng(0)
    passages = (random.normal(size=(500, 16)) * random.uniform(0.1, 1, size=(500, 1))).astype(np.float32)
    questions = random.normal(size=(20, 16)).astype(np.float32)
    longest = float(np.linalg.norm(passages, axis=1).max()) + 0.5
    lifted, asked = lift(passages, longest), lift_questions(questions)
    assert lifted.shape == (500, 17)
    assert lifted.dtype == asked.dtype == np.float32
    assert np.linalg.norm(lifted, axis=1) == pytest.approx(1, abs=1e-6)
    assert np.linalg.norm(asked, axis=1) == pytest.approx(1, abs=1e-6)
    dots = passages @ questions.T
    lengths = np.linalg.norm(questions, axis=1)
    np.testing.assert_allclose(lifted @ asked.T, dots / (lengths * longest), atol=1e-6)
    by_cosine = (passages / np.linalg.norm(passages, axis=1, keepdims=True)) @ questions.T
    assert (np.argmax(lifted @ asked.T, axis=0) == np.argmax(dots, axis=0)).all()
    assert (np.argmax(by_cosine, axis=0) != np.argmax(dots, axis=0)).any(), "the two differ here"


def test_a_vector_that_is_too_long_or_of_no_use_is_the_models_failure() -> None:
    with pytest.raises(ModelFailed, match=r"length 5, and .* at most 4 long: set HOPWEAVE_EMBEDDING__DOT to a greater"):
        lift(np.array([[3, 4]], np.float32), 4)
    with pytest.raises(ModelFailed, match="zero or not finite"):
        lift(np.array([[np.nan, 4]], np.float32), 4)
    with pytest.raises(ModelFailed, match="zero or not finite"):
        lift_questions(np.zeros((1, 2), np.float32))
    assert lift(np.zeros((1, 2), np.float32), 4).tolist() == [[0, 0, 1]]


async def test_a_model_in_this_process_ranks_by_the_dot_product_of_its_own_vectors(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(folder), device="cpu")
    raw, asked = theirs.encode(TEXTS), theirs.encode(QUESTION)
    lengths = np.linalg.norm(raw, axis=1)
    assert lengths.std() > 0.01, "they differ in length"
    longest = 2 * float(lengths.max())
    embedder = SentenceTransformersEmbedder(model=str(folder), precision="float32", form=EmbeddingForm(dot=longest))
    assert embedder.dimension == 33
    assert embedder.model.endswith(f"?dot={longest:g}")
    passages, question = await embedder.embed_passages(TEXTS), await embedder.embed_query(QUESTION)
    expected = raw @ asked / (np.linalg.norm(asked) * longest)
    np.testing.assert_allclose(passages @ question, expected, atol=1e-4)
    await embedder.close()


@pytest.mark.parametrize("dot", [0, -1, float("nan"), float("inf"), 1e40])
def test_a_length_that_no_vector_has_is_refused(dot: float) -> None:
    """At 1e40 all scores would be 0."""
    with pytest.raises(ValidationError, match="dot"):
        EmbeddingSettings(dot=dot)


async def test_a_damaged_model_is_named(folder: Path, tmp_path: Path) -> None:
    """As after a download that was interrupted."""
    model = shutil.copytree(folder, tmp_path / "model")
    (model / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(InvalidSettings, match=r"embedding.model 'model@.*' cannot be loaded: name the built-in model"):
        await SentenceTransformersEmbedder(model=str(model), precision="float32").embed_passages(TEXTS)


async def test_vectors_are_cut_before_they_are_compared(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    raw = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)[:, :8]
    longest = 2 * float(np.linalg.norm(raw, axis=1).max())
    form = EmbeddingForm(dimension=8, dot=longest)
    embedder = SentenceTransformersEmbedder(model=str(folder), precision="float32", form=form)
    assert embedder.dimension == 9
    np.testing.assert_allclose(await embedder.embed_passages(TEXTS), lift(raw, longest), atol=1e-3)
    await embedder.close()


async def test_an_endpoints_vectors_are_taken_as_they_are_long(server: EmbeddingServer) -> None:
    settings = EmbeddingSettings(kind="openai", model="twin", base_url=server.url, dot=4)
    embedder = make_embedder(settings)
    assert (embedder.model, embedder.dimension) == ("twin?dot=4", 17)
    twin = TwinEmbedder(dimension=16)
    cosines = await twin.embed_passages(TEXTS) @ await twin.embed_query(QUESTION)
    passages = await embedder.embed_passages(TEXTS)
    assert passages.shape == (len(TEXTS), 17)
    np.testing.assert_allclose(passages @ await embedder.embed_query(QUESTION), cosines * 3 / 4, atol=1e-5)
    await embedder.close()
    short = make_embedder(settings.model_copy(update={"dot": 2.0}))
    with pytest.raises(ModelFailed, match="of length 3, and vectors of the form dot=2"):
        await short.embed_passages(TEXTS)
    assert np.linalg.norm(await short.embed_query(QUESTION)) == pytest.approx(1), "questions may be as long as they are"
    await short.close()


def test_the_form_is_not_a_part_of_the_configured_name() -> None:
    with pytest.raises(InvalidSettings, match="__DIMENSION and __DOT to the rest"):
        OpenAIEmbedder(model="twin?dot=2", base_url="http://127.0.0.1:1/v1")


class ByLength(TwinEmbedder):
    """Shorter texts have longer vectors; `dot` is None for their cosines."""

    def __init__(self, dot: float | None) -> None:
        super().__init__(dimension=64 if dot is None else 65)
        self._dot = dot
        self._units = TwinEmbedder(dimension=64)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        units = await self._units.embed_passages(texts)
        raw = units * np.array([60 / len(text) for text in texts], np.float32).reshape(-1, 1)
        return units if self._dot is None else lift(raw, self._dot)

    async def embed_query(self, text: str) -> Vectors:
        vector = await self._units.embed_query(text)
        return vector if self._dot is None else lift_questions(vector[None])[0]


async def test_dense_ranks_by_the_dot_product_over_the_store(tmp_path: Path) -> None:
    units = TwinEmbedder(dimension=64)
    passages = await units.embed_passages([one.embedded for one in PASSAGES])
    cosines = passages @ await units.embed_query(QUESTION)
    dots = cosines * [60 / len(one.embedded) for one in PASSAGES]
    orders = {}
    for dot in (None, 2.0):
        embedder: Embedder = ByLength(dot)
        async with open_world(tmp_path / str(dot), embedder) as world:
            await world.put(PASSAGES)
            result = await world.searcher("dense").search(world.query(QUESTION, k=6), Trace())
            orders[dot] = [hit.document.key for hit in result.hits]
            expected = cosines if dot is None else dots / dot
            by_key = {one.key: value for one, value in zip(PASSAGES, expected.tolist(), strict=True)}
            assert {hit.document.key: hit.signals.dense for hit in result.hits} == pytest.approx(by_key, abs=1e-5)
            assert orders[dot] == sorted(by_key, key=lambda key: -by_key[key])
    assert orders[None] != orders[2.0]


def test_names_have_no_vectors_where_dot_products_are_compared() -> None:
    settings = CorpusSettings(
        chunker="passage", extractor="given", fine=Fine.AUTO, embedding_model="m?dot=2", dimension=9
    )
    assert not has_fine_vectors(settings)


def test_the_built_in_model_needs_the_extra_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InvalidSettings, match=r"pip install \"hopweave\[models\]\""):
        make_embedder(EmbeddingSettings(model=BUILT_IN, dot=2))
