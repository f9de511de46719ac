"""Scaling, fusing and ordering scores, and what the graph weighs among them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.candidates.fusion import fuse, order_by_score, scale, weigh_graph

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


masses = st.lists(st.just(0.0) | st.floats(1e-6, 1), min_size=1, max_size=30).map(np.array)


def weigh(
    mass: np.ndarray, *, dense: np.ndarray | None = None, sparse: np.ndarray | None = None, of_one: float = 1
) -> float:
    """The weight of a graph with this mass; `of_one` consecutive candidates are of one document."""
    nothing = np.zeros(len(mass))
    documents = (np.arange(len(mass)) / of_one).astype(np.int64)
    return weigh_graph(nothing if dense is None else dense, nothing if sparse is None else sparse, mass, documents)


@pytest.mark.parametrize(("holders", "expected"), [(1, 1), (5, 1), (15, 1), (27, 13 / 25), (40, 0), (60, 0)])
def test_a_graph_whose_mass_is_spread_over_many_candidates_weighs_less(holders: int, expected: float) -> None:
    mass = np.r_[np.full(holders, 0.01), np.zeros(60 - holders)]
    assert weigh(mass) == pytest.approx(expected)


@pytest.mark.parametrize(("of_one", "expected"), [(1, 1), (3, 1), (4.5, 0.5), (6, 0), (10, 0)])
def test_a_graph_that_holds_whole_documents_weighs_less(of_one: float, expected: float) -> None:
    """With 4.5, two documents have four and five candidates; the entropy of their masses is almost that of halves."""
    count = 9 if of_one == 4.5 else int(of_one)
    assert weigh(np.full(count, 0.1), of_one=of_one) == pytest.approx(expected, abs=0.01)


def test_candidates_without_mass_are_not_counted_in_documents() -> None:
    mass = np.r_[np.full(2, 0.5), np.zeros(18)]
    assert weigh(mass, of_one=20) == 1


def test_one_document_with_nearly_all_the_mass_counts_as_one_document() -> None:
    """Ten candidates of one document hold the mass, and ten documents have a trace each."""
    mass = np.r_[np.full(10, 1.0), np.full(10, 1e-9)]
    documents = np.r_[np.zeros(10), np.arange(1, 11)].astype(np.int64)
    assert weigh_graph(np.zeros(20), np.zeros(20), mass, documents) == 0


def test_a_graph_contrary_to_cosine_and_words_weighs_nothing_and_one_that_agrees_all() -> None:
    mass = np.linspace(0.001, 1, 12) ** 4
    rising, falling = np.linspace(0, 1, 12), np.linspace(1, 0, 12)
    assert weigh(mass, dense=rising, sparse=rising) == 1
    assert weigh(mass, dense=falling, sparse=falling) == 0
    assert weigh(mass, dense=falling) == weigh(mass, sparse=falling) == 0
    assert weigh(mass, dense=falling, sparse=rising) == 0, "cosine counts more than words"
    assert weigh(mass, dense=np.full(12, 0.5)) == 1, "what tells nothing apart contradicts nothing"


def test_a_contrary_graph_falls_between_its_bounds() -> None:
    """The correlation is made to be -.5 exactly: less 1/sqrt(n), which is chance, it lies between the bounds."""
    root = np.array([1.0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    other = np.array([0.0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0])
    assert np.corrcoef(root, other)[0, 1] == pytest.approx(-0.5)
    assert weigh(root, dense=other) == pytest.approx((0.5 - (0.5 - 0.25)) / 0.35)


def test_a_contrary_order_of_few_candidates_may_be_chance() -> None:
    orders = {count: np.linspace(0, 1, count) for count in (2, 3, 4, 12)}
    weights = [weigh(order + 0.01, dense=-order) for order in orders.values()]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 0.5
    assert weights[-1] == 0


def test_the_weight_is_the_product_of_the_three() -> None:
    """27 candidates in six documents, and the order of the graph is half as contrary as it may be."""
    mass = np.r_[np.full(27, 1.0), np.zeros(0)]
    spread = 13 / 25
    assert weigh(mass) == pytest.approx(spread)
    documents = np.repeat(np.arange(6), [4, 5, 4, 5, 4, 5])
    shares = np.bincount(documents) / 27
    within = 27 / np.exp(-(shares * np.log(shares)).sum())
    assert weigh_graph(np.zeros(27), np.zeros(27), mass, documents) == pytest.approx(spread * (6 - within) / 3)


def test_without_a_graph_there_is_no_weight_and_that_of_a_single_candidate_is_whole() -> None:
    assert weigh(np.zeros(0)) == weigh(np.zeros(5), dense=np.arange(5.0)) == 0
    assert weigh(np.array([0.3]), dense=np.array([0.2]), sparse=np.array([3.0])) == 1
    assert weigh(np.array([0.3]), dense=np.array([np.nan])) == 1


@given(mass=masses, data=st.data())
def test_the_weight_lies_between_zero_and_one_whatever_the_scale_and_order(
    mass: np.ndarray, data: st.DataObject
) -> None:
    size = len(mass)
    # rounded, since a denormal number times a factor is another number
    score = st.floats(-1, 1).map(lambda value: round(value, 9)) | st.just(np.nan)
    some = st.lists(score, min_size=size, max_size=size).map(np.array)
    dense, sparse = data.draw(some), np.nan_to_num(np.abs(data.draw(some)))
    documents = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    weight = weigh_graph(dense, sparse, mass, documents)
    assert 0 <= weight <= 1
    assert (weight == 0) or (mass > 0).any()
    factor = data.draw(st.sampled_from([0.125, 8.0, 1024.0]))
    assert weigh_graph(dense, sparse, factor * mass, documents) == pytest.approx(weight, abs=1e-6)
    assert weigh_graph(factor * dense, sparse, mass, documents) == pytest.approx(weight, abs=1e-6)
    assert weigh_graph(dense, factor * sparse, mass, documents) == pytest.approx(weight, abs=1e-6)
    turned = np.array(data.draw(st.permutations(range(size))))
    renamed = np.array([3, 0, 4, 1, 2])[documents]
    again = weigh_graph(dense[turned], sparse[turned], mass[turned], renamed[turned])
    assert again == pytest.approx(weight, abs=1e-6)


@given(holders=st.integers(1, 80), more=st.integers(1, 20))
def test_mass_on_more_candidates_never_weighs_more(holders: int, more: int) -> None:
    assert weigh(np.ones(holders + more)) <= weigh(np.ones(holders)) + 1e-9
