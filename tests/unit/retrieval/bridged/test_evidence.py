"""What the best candidates say of the others, by hand."""

from math import exp, log, sqrt

import numpy as np
import pytest

from retrieval.bridged.evidence import PoolEvidence
from retrieval.graph.snapshot import GraphSnapshot
from tests.unit.retrieval.bridged.builders import Said, corpus, document, evidence

QUESTION = "Where did the performer of Hello Love die?"
SONG = Said(title="Hello Love", text="recorded in Nashville", names=("Hank Snow",), document="song")
SINGER = Said(title="Hank Snow", text="he died", names=("Madison",), document="singer")
TOWN = Said(title="Madison", text="a town", document="town")
ZEBRA = Said(title="Zebra", text="grass", names=("Hello Love",), document="zebra")
DENSE = [0.5, 0.4, 0.2, 0.1]
STAGE1 = [1.0, 0.6, 0.2, 0.2]
TWO_OF_FOUR = log(1 + 4 / 2) / log(1 + 4)  # the rarity of a name that two of four chunks have


@pytest.fixture
def snapshot() -> GraphSnapshot:
    return corpus(SONG, SINGER, TOWN, ZEBRA)


@pytest.fixture
def found(snapshot: GraphSnapshot) -> PoolEvidence:
    return evidence(snapshot, QUESTION, dense=DENSE, stage1=STAGE1)


def test_sources_are_the_best_by_stage_1_and_weigh_e_times_less_for_each_four_tenths(found: PoolEvidence) -> None:
    assert found.sources.tolist() == [0, 1, 2, 3]
    assert found.place.tolist() == [0, 1, 2, 3]
    assert found.source_weight.tolist() == pytest.approx([1, exp(-1), exp(-2), exp(-2)])


def test_at_most_eight_are_sources() -> None:
    many = corpus(*[Said(title=f"Title {i}") for i in range(12)])
    found = evidence(many, "", dense=[i / 20 for i in range(12)])
    assert found.sources.tolist() == [11, 10, 9, 8, 7, 6, 5, 4]
    assert found.place.tolist() == list(range(11, -1, -1))
    assert found.links.title.shape == (8, 12)


def test_a_source_that_names_a_title_leads_to_it_as_surely_as_it_is_like_the_question(found: PoolEvidence) -> None:
    expected = np.zeros((4, 4))
    expected[0, 1] = 0.5  # the song names the singer
    expected[1, 2] = 0.4  # who names the town
    assert found.links.title.tolist() == expected.tolist()  # the zebra names Hello Love, but so does the question


def test_a_name_that_two_share_and_the_question_lacks_leads_both_ways(found: PoolEvidence) -> None:
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = sqrt(0.5 * 0.4 * TWO_OF_FOUR)
    expected[1, 2] = expected[2, 1] = sqrt(0.4 * 0.2 * TWO_OF_FOUR)
    assert found.links.shared.ravel().tolist() == pytest.approx(expected.ravel().tolist())
    squares = np.where(expected > 0, TWO_OF_FOUR**2, 0)
    assert found.links.rarities.ravel().tolist() == pytest.approx(squares.ravel().tolist())


def test_naming_a_source_s_title_leads_back_to_it_less_so_if_the_question_names_it(found: PoolEvidence) -> None:
    expected = np.zeros((4, 4))
    expected[1, 0] = 0.5  # the song names the singer, a source
    expected[2, 1] = 0.4
    expected[0, 3] = 0.3 * 0.1  # the zebra names the song, which is asked for
    assert found.links.reverse.ravel().tolist() == pytest.approx(expected.ravel().tolist())


def test_standing_is_by_cosine_among_those_that_have_the_name(found: PoolEvidence, snapshot: GraphSnapshot) -> None:
    names = snapshot.columns.names.take(found.names.entities)
    standing = {
        (int(owner), str(names[name])): float(value)
        for owner, name, value in zip(found.names.owner, found.names.name, found.standing, strict=True)
    }
    first, second = 1, pytest.approx(2 / 3)
    assert standing == {
        (0, "hello love"): first, (0, "hank snow"): first, (1, "madison"): first, (3, "zebra"): first,
        (3, "hello love"): second, (1, "hank snow"): second, (2, "madison"): second,
    }  # fmt: skip
    assert found.links.standing[0].tolist() == pytest.approx([0, 0.5 * TWO_OF_FOUR * 2 / 3, 0, 0])
    assert found.links.standing[1].tolist() == pytest.approx([0.4 * TWO_OF_FOUR, 0, 0.4 * TWO_OF_FOUR * 2 / 3, 0])


def test_added_is_the_share_of_words_that_a_candidate_has_and_the_source_lacks() -> None:
    both = Said(title="Zebra", text="grass, recorded", names=("Hello Love",))
    found = evidence(
        corpus(SONG, SINGER, TOWN, both), "Which grass was recorded where Hello Love died?", dense=DENSE, stage1=STAGE1
    )
    assert set(found.question.written) == {"grass", "recorded", "died"}
    rare, common = log(1 + 3.5 / 1.5), log(1 + 2.5 / 2.5)  # "recorded" is in two of the four chunks
    rare, common = rare / (2 * rare + common), common / (2 * rare + common)
    assert found.added.ravel().tolist() == pytest.approx(
        [
            0, rare, 0, rare,  # the song has "recorded"; the singer brings "died", the zebra "grass" alone
            common, 0, 0, rare + common,
            common, rare, 0, rare + common,  # the town has none of them
            0, rare, 0, 0,
        ]
    )  # fmt: skip


def test_nothing_leads_from_a_source_to_itself(found: PoolEvidence) -> None:
    for values in (found.similarity, found.others, found.added, found.links.any, found.links.standing):
        assert values[range(4), found.sources].tolist() == [0] * 4


def test_similarity_is_the_cosine_of_source_and_candidate(snapshot: GraphSnapshot) -> None:
    found = evidence(snapshot, QUESTION, dense=DENSE, vectors=[[1, 0], [0.6, 0.8], [0, 1], [0, 0]])
    assert found.similarity[0].tolist() == pytest.approx([0, 0.6, 0, 0])
    assert found.similarity[1].tolist() == pytest.approx([0.6, 0, 0.8, 0])


def test_words_are_weighed_as_bm25_does_and_told_as_a_share_of_the_best() -> None:
    short = Said(title="Alpha", text="stone")
    long = Said(title="Beta", text="stone stone river river river river")
    found = evidence(corpus(short, long, Said(title="Gamma", text="sand")), "which stone?", dense=[0, 0, 0])
    assert found.length.tolist() == [2, 7, 2]  # with the title; 11 / 3 on average
    one = 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / (11 / 3)))
    two = 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 7 / (11 / 3)))
    assert found.wording.tolist() == pytest.approx([one / max(one, two), two / max(one, two), 0])


def test_title_overlap_is_the_share_of_its_words_that_the_question_has(found: PoolEvidence) -> None:
    assert found.title_overlap.tolist() == pytest.approx([1, 0, 0, 0]), "by the words of names, too"
    chunks = Said(title="River stone", text="asked"), Said(title="Gravel", heading="Stone", text="river")
    found = evidence(corpus(*chunks, Said(text="river stone")), "which stone?", dense=[0, 0, 0])
    stone, river, gravel = log(1 + 0.5 / 3.5), log(1 + 0.5 / 3.5), log(1 + 2.5 / 1.5)
    assert found.title_overlap.tolist() == pytest.approx([stone / (stone + river), stone / (stone + gravel), 0])


def test_a_filter_hides_links_that_only_other_documents_know(snapshot: GraphSnapshot) -> None:
    """Without the song nobody names Hank Snow but he himself, and only the zebra names Hello Love."""
    chosen = frozenset(map(document, ("singer", "town", "zebra")))
    found = evidence(snapshot, QUESTION, dense=DENSE[1:], chunks=[1, 2, 3], documents=chosen)
    one_of_four, two_of_four = 1.0, TWO_OF_FOUR
    rarity = dict(zip(snapshot.columns.names.take(found.names.entities), found.names.rarity.tolist(), strict=True))
    names = "hank snow", "zebra", "hello love"
    assert rarity == pytest.approx({**dict.fromkeys(names, one_of_four), "madison": two_of_four})
    assert found.links.title.tolist() == [[0, 0.4, 0], [0, 0, 0], [0, 0, 0]]
    alone = frozenset(map(document, ("singer", "zebra")))
    found = evidence(snapshot, QUESTION, dense=[0.4, 0.1], chunks=[1, 3], documents=alone)
    assert not found.links.any.any()


def test_a_candidate_without_a_vector_has_the_cosine_zero(snapshot: GraphSnapshot) -> None:
    found = evidence(snapshot, QUESTION, dense=[0.5, float("nan"), 0.2, float("nan")])
    assert found.cosine.tolist() == [0.5, 0, 0.2, 0]
    assert found.links.title[0].tolist() == [0, 0.5, 0, 0]
    assert found.links.shared[0].tolist() == pytest.approx([0, sqrt(0.5 * 0.01 * TWO_OF_FOUR), 0, 0])
    assert np.isfinite(found.links.any).all()


def test_best_is_the_greatest_over_sources_by_their_weight(found: PoolEvidence) -> None:
    values = np.array([[0.1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0]], np.float64)
    assert found.best(values).tolist() == pytest.approx([exp(-1), 2 * exp(-2), 0, 0])


def test_without_any_name_nothing_leads_anywhere() -> None:
    found = evidence(corpus(Said(text="river"), Said(text="stone")), "which river?", dense=[0.3, 0.2])
    assert found.names.size == 0
    assert not found.links.any.any()
    assert found.wording.tolist() == [1, 0]
    assert found.standing.tolist() == []


def test_one_candidate_alone_is_its_own_only_source_and_an_empty_corpus_has_none() -> None:
    found = evidence(corpus(SONG), QUESTION, dense=[0.5])
    assert (found.sources.tolist(), found.source_weight.tolist()) == ([0], [1])
    assert found.links.any.tolist() == found.added.tolist() == found.similarity.tolist() == [[0]]
    found = evidence(corpus(), QUESTION, dense=[])
    assert (len(found.chunks), len(found.sources)) == (0, 0)
    assert found.best(np.zeros((0, 0))).tolist() == []
