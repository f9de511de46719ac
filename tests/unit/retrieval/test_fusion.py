import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrieval.candidates.fusion import fuse, order_by_score, scale

signals = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20).map(np.array)


@given(signals)
def test_scaled_signals_lie_between_zero_and_one_in_the_same_order(signal: np.ndarray) -> None:
    out = scale(signal)
    assert ((out >= 0) & (out <= 1)).all()
    assert (np.diff(out[np.argsort(signal)]) >= 0).all()
    if signal.max() > signal.min():
        assert (out.min(), out.max()) == (0, 1)


def test_what_tells_nothing_apart_or_is_unknown_counts_as_nothing() -> None:
    assert scale(np.array([3.0, 3.0])).tolist() == [0, 0]
    assert scale(np.array([np.nan, 1.0, 3.0])).tolist() == [0, 0, 1]
    assert scale(np.array([np.nan])).tolist() == [0]
    assert scale(np.zeros(0)).tolist() == []


def test_the_mix_is_the_formula() -> None:
    dense, sparse, graph = np.array([0.2, 0.4, 0.6]), np.array([0.0, 5.0, 10.0]), np.array([0.16, 0.0, 0.01])
    expected = [0 + 0 + 2 * 1, 0.5 + 0.3 * 0.5 + 0, 1 + 0.3 + 2 * (0.01 / 0.16) ** 0.25]
    np.testing.assert_allclose(fuse(dense, sparse, graph, weights=(1, 0.3, 2), exponent=0.25), expected)


def test_equal_scores_are_ranked_by_number() -> None:
    assert order_by_score(np.array([7, 2, 5]), np.array([1.0, 1.0, 3.0])).tolist() == [2, 1, 0]
