"""The score of `bridged`: the trained ranker by the graph's share, plain signals for the rest, and rare words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.ranker import SHIPPED, load_ranker, rank, split_score, standardise
from retrieval.candidates.fusion import scale
from tests.unit.retrieval.bridged.builders import Said, corpus, evidence

QUESTION = "Where did the performer of Hello Love die?"
CHUNKS = (
    Said(title="Hello Love", text="recorded in Nashville", names=("Hank Snow",)),
    Said(title="Hank Snow", text="he died", names=("Madison",)),
    Said(title="Madison", text="a town where many died"),
    Said(title="Zebra", text="grass", names=("Hello Love",)),
    Said(title="Bread", text="flour and water"),
)
DENSE = [0.5, 0.4, 0.2, 0.1, 0.3]
PLAIN = ("plain_cosine", "plain_bm25", "plain_stems", "plain_neighbour")
RANKER = load_ranker("full")


def five(share: float, exact: Sequence[float] = (0, 0, 0, 0, 0)) -> PoolEvidence:
    found = evidence(corpus(*CHUNKS), QUESTION, dense=DENSE, sparse=[4, 0, 1, 2, 0], mass=[0.5, 0.3, 0, 0.2, 0])
    return replace(found, graph_share=share, exact=np.array(exact, np.float64))


def plain(cosine: Sequence[float], *, sparse: Sequence[float] | None = None, **places: Any) -> PoolEvidence:
    """Candidates without names or words of the question, with cosines, `documents`, `positions` and `exact`."""
    size = len(cosine)
    keys = places.get("documents") or map(str, range(size))
    found = evidence(
        corpus(*(Said(text="grass", document=key) for key in keys)), "performers", dense=cosine, sparse=sparse
    )
    positions, exact = (places.get(name) or [0] * size for name in ("positions", "exact"))
    return replace(found, positions=np.array(positions, np.int64), exact=np.array(exact, np.float64))


def order(scores: np.ndarray) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()


@pytest.mark.parametrize("ranker", SHIPPED)
@pytest.mark.parametrize("share", [0.0, 0.25, 0.8, 1.0])
def test_the_parts_sum_to_the_score(ranker: str, share: float) -> None:
    found = five(share, exact=[0, 0.5, 0, 1, 0])
    parts = split_score(load_ranker(ranker), found)
    np.testing.assert_allclose(sum(parts.values()), rank(load_ranker(ranker), found), atol=1e-12)
    assert all(values.shape == (5,) for values in parts.values())
    assert (set(PLAIN) <= set(parts)) is (share < 1)
    assert (set(load_ranker(ranker).features) <= set(parts)) is (share > 0)
    assert "exact" in parts


def test_without_a_share_the_order_is_the_one_of_the_plain_score() -> None:
    """It is worked out anew here: the cosine scaled, .1 of BM25 and .4 of the stems, as no document has neighbours."""
    found = five(0)
    expected = scale(found.cosine) + 0.1 * found.bm25 / 4 + 0.4 * found.wording_all
    np.testing.assert_allclose(rank(RANKER, found), standardise(expected))
    assert order(rank(RANKER, found)) != order(RANKER.rank(found))


@pytest.mark.parametrize("ranker", SHIPPED)
def test_with_the_whole_share_the_order_is_the_trained_rankers(ranker: str) -> None:
    found = five(1)
    score = rank(load_ranker(ranker), found)
    assert order(score) == order(load_ranker(ranker).rank(found))
    trained = load_ranker(ranker).rank(found)
    np.testing.assert_allclose(standardise(score), standardise(trained))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_rare_words_are_added_whatever_the_share(share: float) -> None:
    without, exact = rank(RANKER, five(share)), np.array([0, 0.01, 0, 0, 1])
    np.testing.assert_allclose(rank(RANKER, five(share, exact=exact.tolist())) - without, 16 * exact)
    assert order(rank(RANKER, five(share, exact=exact.tolist())))[0] == 4


def test_a_share_between_mixes_both_in_proportion() -> None:
    """Each of the two has been standardised, or else a ranker with greater weights would count more."""
    none, some, all_ = (rank(RANKER, five(share)) for share in (0.0, 0.3, 1.0))
    np.testing.assert_allclose(some, 0.7 * none + 0.3 * all_)


def test_where_no_name_leads_on_the_share_does_not_count() -> None:
    found = plain([0.3, 0.2, 0.9])
    assert not found.links.any.any()
    for share in (0.0, 0.5, 1.0):
        scores = rank(RANKER, replace(found, graph_share=share))
        np.testing.assert_allclose(scores, standardise(np.array([1 / 7, 0, 1])))


def neighbours(found: PoolEvidence) -> list[float]:
    """The part of the neighbours, relative to the least of it, in units in which the cosines are scaled to 0…1."""
    parts = split_score(RANKER, found)
    unit = np.ptp(parts["plain_cosine"])
    return ((parts["plain_neighbour"] - parts["plain_neighbour"].min()) / unit).tolist()


ONE_BETTER = [0.0, 0.5, 1.0, 0.25, 0.0]
FIRST, MIDDLE = [1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("cosine", "documents", "positions", "expected"),
    [
        # the better neighbour counts a fifth; the last passage is two places behind the passage before
        (ONE_BETTER, "aaaaa", [0, 1, 2, 3, 5], [0.1, 0.2, 0.1, 0.2, 0.0]),
        # neighbours are told by position, and not by the order of candidates
        (ONE_BETTER, "aaaaa", [4, 8, 3, 7, 1], [0.2, 0.05, 0.0, 0.1, 0.0]),
        # they count in documents of three candidates; the last candidate is of another document
        ([1.0, 0.5, 0.0], "aab", [0, 1, 2], [0.0, 0.0, 0.0]),
        (FIRST, "aaab", [0, 1, 2, 3], [0.1, 0.2, 0.1, 0.0]),
        # passages of two documents are none
        ([1.0, 0.0, 0.0, 0.0, 0.0, 0.9], "ababab", [0, 1, 4, 5, 8, 9], [0.0] * 6),
        # nor is the end of a document of the next document
        (MIDDLE, "aaabbb", [0, 1, 2, 3, 4, 5], [0.0, 0.2, 0.0, 0.0, 0.0, 0.0]),
        (MIDDLE, "aaabbb", [3, 4, 5, 0, 1, 2], [0.0, 0.2, 0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_neighbours_in_a_document_count(
    cosine: list[float], documents: str, positions: list[int], expected: list[float]
) -> None:
    assert neighbours(plain(cosine, documents=documents, positions=positions)) == pytest.approx(expected)


@pytest.mark.parametrize("ranker", SHIPPED)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("size", [0, 1])
def test_a_pool_of_no_or_one_candidate_has_a_finite_score(ranker: str, share: float, size: int) -> None:
    found = evidence(corpus(*CHUNKS[:size]), QUESTION, dense=DENSE[:size], sparse=[4.0][:size], mass=[0.5][:size])
    found = replace(found, graph_share=share)
    scores = rank(load_ranker(ranker), found)
    assert scores.tolist() == [0] * size
    assert all(values.tolist() == [0] * size for values in split_score(load_ranker(ranker), found).values())
    with_word = replace(found, exact=np.ones(size))
    assert rank(load_ranker(ranker), with_word).tolist() == [16] * size


def test_without_any_cosine_words_make_the_order() -> None:
    found = plain([float("nan")] * 3, sparse=[1.0, 5.0, 2.0])
    assert order(rank(RANKER, found)) == [1, 2, 0]


@given(cosine=st.lists(st.floats(-1, 1), min_size=1, max_size=8), share=st.floats(0, 1), data=st.data())
def test_any_pool_has_finite_scores_to_which_the_parts_sum(
    cosine: list[float], share: float, data: st.DataObject
) -> None:
    size = len(cosine)
    documents = data.draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size))
    positions = data.draw(st.lists(st.integers(0, 9), min_size=size, max_size=size, unique=True))
    exact = data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))
    found = replace(plain(cosine, documents=documents, positions=positions, exact=exact), graph_share=share)
    scores = rank(RANKER, found)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(sum(split_score(RANKER, found).values()), scores, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_label_of_a_row_is_added_whatever_the_share(share: float) -> None:
    found, labels = five(share), np.array([0, 0.5, 0, 0, 1])
    assert "row_label" not in split_score(RANKER, found)
    labelled = replace(found, row_label=labels)
    np.testing.assert_allclose(rank(RANKER, labelled) - rank(RANKER, found), 2 * labels)
    np.testing.assert_allclose(split_score(RANKER, labelled)["row_label"], 2 * labels)
