"""The contract of `Embedder`, for any model. A subclass gives the fixture `embedder`."""

import asyncio

import numpy as np
import pytest

from core.ports.embedding import Embedder, Vectors

__all__ = ["EmbedderContract"]

TEXTS = [
    "The capital of France is Paris.",
    "Кто написал «Войну и мир»?",
    "北京是中华人民共和国的首都。",
    "القاهرة عاصمة مصر",
    "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
    "서울은 대한민국의 수도이다",
    "a",
    "A volcano erupted in Iceland, and the flights of half a continent were cancelled for a week. " * 4,
    "👩‍👩‍👧 e\u0301 A\u2028.\u2029",
]
MORE_THAN_A_CALL = 150
SAME = 0.999  # batches of other lengths round differently


class EmbedderContract:
    @pytest.fixture
    def embedder(self) -> Embedder:
        raise NotImplementedError("a subclass says which embedder")

    async def test_no_text_has_no_row(self, embedder: Embedder) -> None:
        vectors = await embedder.embed_passages([])
        assert vectors.shape == (0, embedder.dimension)
        assert vectors.dtype == np.float32

    async def test_rows_are_unit_vectors(self, embedder: Embedder) -> None:
        vectors = await embedder.embed_passages(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)

    async def test_rows_are_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        together = await embedder.embed_passages(TEXTS)
        alone = np.concatenate([await embedder.embed_passages([text]) for text in TEXTS])
        assert _cosines(together, alone) == pytest.approx(1, abs=1 - SAME)

    async def test_the_order_holds_over_several_batches(self, embedder: Embedder) -> None:
        texts = [f"{'very ' * (row % 7)}number {row}" for row in range(MORE_THAN_A_CALL)]
        together = await embedder.embed_passages(texts)
        backwards = await embedder.embed_passages(texts[::-1])
        assert _cosines(together, backwards[::-1]) == pytest.approx(1, abs=1 - SAME)
        assert (together @ together[42]).argmax() == 42

    async def test_equal_texts_have_equal_vectors(self, embedder: Embedder) -> None:
        first, other, again = await embedder.embed_passages([TEXTS[0], TEXTS[7], TEXTS[0]])
        assert first @ again == pytest.approx(1, abs=1 - SAME)
        assert first @ other < SAME

    async def test_a_query_is_one_unit_vector(self, embedder: Embedder) -> None:
        vector = await embedder.embed_query("What is the capital of France?")
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)

    async def test_a_query_finds_the_passage_that_it_resembles(self, embedder: Embedder) -> None:
        passages = await embedder.embed_passages(TEXTS)
        assert (passages @ await embedder.embed_query("capital of France Paris")).argmax() == 0

    async def test_queries_at_once_do_not_mix(self, embedder: Embedder) -> None:
        passages = await embedder.embed_passages(TEXTS)
        queries = np.stack(await asyncio.gather(*(embedder.embed_query(text) for text in TEXTS)))
        alone = np.stack([await embedder.embed_query(text) for text in TEXTS])
        assert _cosines(queries, alone) == pytest.approx(1, abs=1 - SAME)
        assert (queries @ passages.T).argmax(axis=1).tolist() == list(range(len(TEXTS)))

    async def test_a_query_that_is_given_up_takes_no_other_with_it(self, embedder: Embedder) -> None:
        expected = await embedder.embed_query(TEXTS[1])
        tasks = [asyncio.create_task(embedder.embed_query(text)) for text in (TEXTS[0], TEXTS[1], TEXTS[2])]
        await asyncio.sleep(0)
        tasks[0].cancel()
        tasks[2].cancel()
        assert await tasks[1] @ expected == pytest.approx(1, abs=1 - SAME)
        await asyncio.gather(*tasks, return_exceptions=True)

    @pytest.mark.parametrize("text", ["", " ", "\n", "word " * 20_000, "長" * 5_000])
    async def test_the_empty_and_the_endless_have_vectors(self, embedder: Embedder, text: str) -> None:
        vectors = await embedder.embed_passages([text, TEXTS[0]])
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)
        assert np.linalg.norm(await embedder.embed_query(text)) == pytest.approx(1, abs=1e-4)

    def test_the_model_has_a_name(self, embedder: Embedder) -> None:
        assert embedder.model

    def test_tokens_are_counted_in_order(self, embedder: Embedder) -> None:
        counts = embedder.tokens.count(["", *TEXTS])
        assert counts[0] == 0
        assert min(counts[1:]) > 0
        assert counts == [embedder.tokens.count([text])[0] for text in ["", *TEXTS]]
        assert embedder.tokens.count([]) == []

    def test_tokens_are_counted_to_the_end(self, embedder: Embedder) -> None:
        reads = embedder.tokens.max_tokens
        assert reads > 0
        assert embedder.tokens.count(["word " * (3 * reads)]) == [3 * reads]


def _cosines(one: Vectors, other: Vectors) -> Vectors:
    cosines: Vectors = np.einsum("ij,ij->i", one, other)
    return cosines
