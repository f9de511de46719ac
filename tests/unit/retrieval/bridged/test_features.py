"""Every feature is finite wherever it is asked, and the main ones are what one works out by hand."""

from collections.abc import Callable
from functools import cache
from math import exp, log, log10, sqrt

import numpy as np
import pytest

from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.features import FEATURES, compute_features
from tests.unit.retrieval.bridged.builders import Said, corpus, document, evidence

QUESTION = "Where did the performer of Hello Love die?"
SONG = Said(title="Hello Love", text="recorded in Nashville", names=("Hank Snow",), document="song")
SINGER = Said(title="Hank Snow", text="he died", names=("Madison",), document="singer")
TOWN = Said(title="Madison", text="a town", document="town")
ZEBRA = Said(title="Zebra", text="grass, died", names=("Hello Love",), document="zebra")
CHUNKS = (SONG, SINGER, TOWN, ZEBRA)
DENSE = [0.5, 0.4, 0.2, 0.1]
STAGE1 = [1.0, 0.6, 0.2, 0.2]
NAN = float("nan")


def many(count: int) -> PoolEvidence:
    chunks = [Said(title=f"Title {i}", text="died", names=(f"Title {i + 1}", "Hello Love")) for i in range(count)]
    return evidence(corpus(*chunks), QUESTION, dense=[i / 20 for i in range(count)])


CASES: dict[str, Callable[[], PoolEvidence]] = {
    "four": lambda: evidence(
        corpus(*CHUNKS), QUESTION, dense=DENSE, stage1=STAGE1, sparse=[4, 0, 1, 2], mass=[0.5, 0.3, 0, 0.2]
    ),
    "twelve": lambda: many(12),
    "one alone": lambda: evidence(corpus(SONG), QUESTION, dense=[0.5]),
    "empty": lambda: evidence(corpus(), QUESTION, dense=[]),
    "no names": lambda: evidence(corpus(Said(text="died"), Said(text="river")), QUESTION, dense=[0.2, 0.1]),
    "no words": lambda: evidence(corpus(*CHUNKS), "Hello Love?", dense=DENSE),
    "no text at all": lambda: evidence(corpus(Said(), Said()), "", dense=[0, 0]),
    "unknown words": lambda: evidence(corpus(*CHUNKS), "who mends quirky xylophones?", dense=DENSE),
    "no vectors": lambda: evidence(corpus(*CHUNKS), QUESTION, dense=[NAN] * 4),
    "some vectors": lambda: evidence(corpus(*CHUNKS), QUESTION, dense=[0.5, NAN, 0.1, NAN]),
    "negative cosines": lambda: evidence(corpus(*CHUNKS), QUESTION, dense=[-0.1, -0.2, -0.9, -1.0]),
    "all equal": lambda: evidence(
        corpus(*[SONG] * 9), QUESTION, dense=[0.5] * 9, vectors=[[1, 0]] * 9, mass=[1 / 9] * 9
    ),
    "filtered": lambda: evidence(corpus(*CHUNKS), QUESTION, dense=DENSE, documents=frozenset([document("zebra")])),
    "nothing allowed": lambda: evidence(corpus(*CHUNKS), QUESTION, dense=DENSE, documents=frozenset()),
    "no spaces": lambda: evidence(
        corpus(Said(title="北京大学", text="在中国"), SONG), "北京大学在哪里", dense=[0.2, 0.1]
    ),
}


@cache
def case_of(name: str) -> PoolEvidence:
    """Made when it is first asked for: making it compiles what walks the graph."""
    return CASES[name]()


@cache
def similar() -> PoolEvidence:
    alike = [[1, 0], [0.6, 0.8], *[[0, 1]] * 3]
    return evidence(corpus(*CHUNKS, TOWN), QUESTION, dense=[*DENSE, 0], stage1=[*STAGE1, 0], vectors=alike)


@pytest.mark.parametrize("feature", FEATURES)
def test_one_finite_value_a_candidate(feature: str) -> None:
    for name in CASES:
        values = FEATURES[feature](case_of(name))
        assert values.shape == (len(case_of(name).chunks),), name
        assert values.dtype == np.float64, name
        assert np.isfinite(values).all(), name


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_says_what_it_means_and_is_not_always_the_same(feature: str) -> None:
    assert (FEATURES[feature].__doc__ or "").endswith(".")
    assert any(len(set(FEATURES[feature](case).tolist())) > 1 for case in (*map(case_of, CASES), similar()))


def test_the_matrix_has_a_column_for_each_name_in_its_order() -> None:
    for case in map(case_of, CASES):
        assert compute_features(case, tuple(FEATURES)).shape == (len(case.chunks), len(FEATURES))
    values = compute_features(case_of("four"), ("words", "cosine"))
    assert values[:, 1].tolist() == DENSE
    assert values[:, 0].tolist() == FEATURES["words"](case_of("four")).tolist()


# Hello Love is named by the song and the zebra, Hank Snow by song and singer, Madison by singer and town.
TWO_OF_FOUR = log(1 + 4 / 2) / log(1 + 4)


BY_HAND: dict[str, list[float]] = {
    "stage1_rank": [1, 5 / 6, 5 / 7, 5 / 8],
    "cosine": DENSE,
    "mass_log": [(log10(0.5 + 1e-6) + 6) / 6, (log10(0.3 + 1e-6) + 6) / 6, 0, (log10(0.2 + 1e-6) + 6) / 6],
    "mass_rank": [1, 5 / 6, 0, 5 / 7],
    # two names each, but the town, which has one
    "mass_by_degree": [1, 0.6**0.25, 0, 0.4**0.25],
    "words": [0, 1, 0, 1],  # "died", once in three words each
    "words_rank": [0, 1, 0, 5 / 6],
    "words_covered": [0, 1, 0, 1],
    "title_overlap": [1, 0, 0, 0],
    "title_asked": [TWO_OF_FOUR, 0, 0, 0],
    "names_asked": [1, 0, 0, 1],
    "best_for_name": [TWO_OF_FOUR, 0, 0, TWO_OF_FOUR * 2 / 3],
    "bridge_title": [0, 0.5, exp(-1) * 0.4, 0],
    "bridge_title_adds": [0, 0.5, 0, 0],
    # back from the singer to the song at a weight of 1/e; back from the town to the singer at less than from the song
    "bridge_name": [exp(-1) * sqrt(0.2 * TWO_OF_FOUR), sqrt(0.2 * TWO_OF_FOUR), exp(-1) * sqrt(0.08 * TWO_OF_FOUR), 0],
    "bridge_name_adds": [0, sqrt(0.2 * TWO_OF_FOUR), 0, 0],
    "bridge_back": [exp(-1) * 0.5, exp(-2) * 0.4, 0, 0.3 * 0.1],
    "bridge_rarities": [weight * log(1 + TWO_OF_FOUR**2) for weight in (exp(-1), 1, exp(-1), 0)],
    "bridge_standing": [exp(-1) * 0.4 * TWO_OF_FOUR, 0.5 * TWO_OF_FOUR * 2 / 3, exp(-1) * 0.4 * TWO_OF_FOUR * 2 / 3, 0],
    "bridge_like_question": [exp(-1), 0.75, exp(-1) * 0.25, 0],  # 3 x .5 is more than all
    "same_title": [0, 0, 0, 0],
}


@pytest.mark.parametrize("feature", BY_HAND)
def test_by_hand(feature: str) -> None:
    assert FEATURES[feature](case_of("four")).tolist() == pytest.approx(BY_HAND[feature])


def test_each_name_of_the_question_counts_by_its_rarity() -> None:
    """Three of four name Madison, one each Zebra and Hello Love; who names two of the three has the shares of both."""
    both = Said(title="Zebra", names=("Madison",))
    found = evidence(corpus(SONG, SINGER, both, TOWN), "Did a Zebra sing Hello Love in Madison?", dense=DENSE)
    song, zebra, madison = 1.0, 1.0, log(1 + 4 / 3) / log(5)
    total = song + zebra + madison
    assert FEATURES["names_asked"](found).tolist() == pytest.approx(
        [song / total, madison / total, (zebra + madison) / total, madison / total]
    )


def test_many_links_are_more_than_one() -> None:
    """What links leave open is multiplied: to the singer from the song .5, and from the town 1/e^2 of .4."""
    found = FEATURES["bridge_many"](case_of("four"))
    assert found[1] == pytest.approx(1 - (1 - 0.5) * (1 - exp(-2) * 0.4))
    assert found[3] == pytest.approx(0.3 * 0.1)


def test_the_second_of_a_title_has_that_of_a_source() -> None:
    """Two towns have one title; each has it from the other, weighed by the other as a source."""
    assert FEATURES["same_title"](similar()).tolist() == pytest.approx([0, 0, exp(-2.5), 0, exp(-2)])


def test_a_link_is_worth_the_more_the_more_the_two_are_alike() -> None:
    """The song names the singer (.5), and they are .6 alike."""
    assert FEATURES["bridge_like_source"](similar())[1] == pytest.approx(0.5 * 0.6)


def test_products_are_of_what_they_name() -> None:
    by_hand = {name: np.array(values) for name, values in BY_HAND.items()}
    bridge = np.maximum(by_hand["bridge_title"], by_hand["bridge_name"])
    found = compute_features(case_of("four"), ("mass_and_words", "bridge_and_words"))
    root = np.array([1, 0.6**0.25, 0, 0.4**0.25])
    assert found[:, 0].tolist() == pytest.approx((root * by_hand["words"]).tolist())
    assert found[:, 1].tolist() == pytest.approx((bridge * by_hand["words"]).tolist())


def test_without_any_name_every_bridge_is_nothing_and_without_mass_or_words_what_counts_them() -> None:
    for name in FEATURES:
        if name.startswith("bridge_"):
            assert FEATURES[name](case_of("no names")).tolist() == [0, 0]
        if name.startswith(("mass_", "words")):
            assert FEATURES[name](case_of("unknown words")).tolist() == [0] * 4
