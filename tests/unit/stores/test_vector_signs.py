import numpy as np
import pytest

from core.execution.jit import JitFunction
from stores.sqlite.vectors.mapped import sign_kernels, signs
from stores.sqlite.vectors.mapped.signs import BLOCK, count_words, encode_signs, find_candidates, lay_out, warm
from testing.contracts.vector_store import unit_vectors


@pytest.fixture(params=["numpy", "compiled"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to make the first pass; another test may have compiled it."""
    if request.param == "compiled":
        warm()
    else:
        for name in ("COUNT_DIFFERENCES", "SCORE_SIGNS"):
            monkeypatch.setattr(signs, name, JitFunction(lambda: None, lambda _: None))
    return request.param


def _codes(vectors: np.ndarray, mean: np.ndarray) -> np.ndarray:
    codes = encode_signs(vectors, mean)
    return np.stack([lay_out(codes[start : start + BLOCK]) for start in range(0, len(vectors), BLOCK)])


def _clustered(rows: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around some hundred centres, as texts are about subjects, and queries near some of them."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((200, dimension)).astype(np.float32) + 0.5  # they have a common part
    vectors = centres[rng.integers(0, 200, rows)] + rng.standard_normal((rows, dimension)).astype(np.float32)
    queries = vectors[rng.integers(0, rows, 30)] + 0.7 * rng.standard_normal((30, dimension)).astype(np.float32)
    return tuple(part / np.linalg.norm(part, axis=1, keepdims=True) for part in (vectors, queries))  # type: ignore[return-value]


@pytest.mark.parametrize("masked", [False, True])
def test_the_nearest_are_among_the_candidates(masked: bool):
    vectors, queries = _clustered(40_000, 384)
    mean = vectors.mean(axis=0)
    codes = _codes(vectors, mean)
    allowed = np.random.default_rng(1).random(len(vectors)) < 0.6 if masked else None
    found = []
    for query in queries:
        candidates = find_candidates(codes, len(vectors), mean, query, 500, allowed)
        assert 500 <= candidates.size < 600
        assert (np.diff(candidates) > 0).all()
        assert allowed is None or allowed[candidates].all()
        scores = vectors @ query if allowed is None else np.where(allowed, vectors @ query, -1)
        found += np.isin(np.argsort(-scores)[:10], candidates).tolist()
    assert np.mean(found) >= 0.99


@pytest.mark.parametrize("dimension", [5, 64, 65, 100])
def test_any_dimension_and_few_rows(dimension: int):
    vectors = unit_vectors(50, dimension=dimension)
    mean = np.zeros(dimension, dtype=np.float32)
    codes = _codes(vectors, mean)
    assert codes.shape == (1, count_words(dimension), BLOCK)
    assert find_candidates(codes, 50, mean, vectors[3], 60, None).tolist() == list(range(50))
    allowed = np.arange(50) % 2 == 1
    assert find_candidates(codes, 50, mean, vectors[3], 60, allowed).tolist() == list(range(1, 50, 2))
    assert 3 in find_candidates(codes, 50, mean, vectors[3], 10, allowed)
    assert find_candidates(codes, 50, mean, vectors[3], 5, np.zeros(50, dtype=np.bool_)).size == 0


def test_equal_rows_are_all_candidates_up_to_the_count():
    vectors = np.repeat(unit_vectors(1, dimension=64), 300, axis=0)
    codes = _codes(vectors, np.zeros(64, dtype=np.float32))
    candidates = find_candidates(codes, 300, np.zeros(64, dtype=np.float32), vectors[0], 300, None)
    assert candidates.tolist() == list(range(300))


@pytest.mark.parametrize(("rows", "dimension"), [(1, 3), (5_000, 130), (20_000, 384)])
def test_the_kernels_compute_what_numpy_does(rows: int, dimension: int):
    rng = np.random.default_rng(rows)
    vectors = rng.standard_normal((rows, dimension), dtype=np.float32)
    query, mean = rng.standard_normal(dimension, dtype=np.float32), np.zeros(dimension, dtype=np.float32)
    codes, code = _codes(vectors, mean), encode_signs(query[np.newaxis], mean)[0]
    distances = np.empty((len(codes), BLOCK), dtype=np.uint16)
    sign_kernels.COUNT_DIFFERENCES()(codes, code, distances)
    differ = ((vectors > 0) != (query > 0)).sum(axis=1)
    assert np.array_equal(distances.reshape(-1)[:rows], differ)
    places = np.flatnonzero(rng.random(rows) < 0.3)
    scores = signs._score_signs(codes, places, query)
    assert np.allclose(scores, np.where(vectors[places] > 0, 1, -1) @ query, atol=1e-3)
