"""Which candidates name what, by hand."""

from math import log

import numpy as np
import pytest

from retrieval.bridged.evidence import PoolNames, collect_names
from retrieval.graph.snapshot import GraphSnapshot
from tests.unit.retrieval.bridged.builders import Said, corpus, document, pool

SONG = Said(title="Hello Love", names=("Hank Snow",), document="song")
SINGER = Said(title="Hank Snow", names=("Madison",), document="singer")
TOWN = Said(title="Madison", heading="Rivers", document="town")
PARK = Said(title="Madison", names=("Zebra",), document="park")
PLAIN = Said(text="no title and no name", document="plain")


def names_of(snapshot: GraphSnapshot, question: str = "", documents: frozenset[str] | None = None) -> PoolNames:
    size = len(snapshot.columns.chunk_ids)
    gathered = pool(snapshot, question, dense=[0.0] * size, documents=documents)
    return collect_names(gathered, snapshot, snapshot.graph(documents))


@pytest.fixture
def snapshot() -> GraphSnapshot:
    return corpus(SONG, SINGER, TOWN, PARK, PLAIN)


def spelled(snapshot: GraphSnapshot, names: PoolNames) -> list[str]:
    return [snapshot.name_of(int(entity)) for entity in names.entities]


def told(snapshot: GraphSnapshot, names: PoolNames) -> set[tuple[int, str]]:
    forms = spelled(snapshot, names)
    return {(int(owner), forms[name]) for owner, name in zip(names.owner, names.name, strict=True)}


def test_each_candidate_has_the_names_that_it_mentions(snapshot: GraphSnapshot) -> None:
    assert told(snapshot, names_of(snapshot)) == {
        (0, "hello love"), (0, "hank snow"),
        (1, "hank snow"), (1, "madison"),
        (2, "madison"), (2, "rivers"),
        (3, "madison"), (3, "zebra"),
    }  # fmt: skip


def test_only_candidates_count(snapshot: GraphSnapshot) -> None:
    gathered = pool(snapshot, "", dense=[0, 0], chunks=[1, 4])
    names = collect_names(gathered, snapshot, snapshot.whole)
    assert told(snapshot, names) == {(0, "hank snow"), (0, "madison")}
    assert names.titles.shape == (2, 2)


def test_rarity_falls_with_the_chunks_of_the_corpus_that_have_the_name(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot)
    rarity = dict(zip(spelled(snapshot, names), names.rarity.tolist(), strict=True))
    rare = dict.fromkeys(("hello love", "rivers", "zebra"), 1.0)  # each of one of five: ln 6 / ln 6
    assert rarity == pytest.approx({**rare, "hank snow": log(1 + 5 / 2) / log(6), "madison": log(1 + 5 / 3) / log(6)})


def test_names_of_the_question_are_linked(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot, "Who sang Hello Love in Madison?")
    linked = dict(zip(spelled(snapshot, names), names.linked.tolist(), strict=True))
    assert {name for name, yes in linked.items() if yes} == {"hello love", "madison"}


def test_titles_and_headings_are_names(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot)
    forms = [*spelled(snapshot, names), ""]
    assert [[forms[i] for i in row] for row in names.titles] == [
        ["hello love", ""], ["hank snow", ""], ["madison", "rivers"], ["madison", ""], ["", ""],
    ]  # fmt: skip


def test_a_title_that_many_share_is_worth_its_share(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot)
    assert names.title_worth[:4, 0].tolist() == [1.0, 1.0, 0.5, 0.5]
    assert names.title_worth[2, 1] == 1.0
    everything = names.weigh_titles(np.ones((1, names.size), np.bool_))
    assert everything.tolist() == [[1.0, 1.0, 1.0, 0.5, 0.0]]  # the third by its heading
    madison = np.array([[form == "madison" for form in spelled(snapshot, names)]])
    assert names.weigh_titles(madison).tolist() == [[0.0, 0.0, 0.5, 0.5, 0.0]]


def test_who_names_a_source_s_title(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot, "Who was Hank Snow?")
    found = names.weigh_reverse_titles(np.array([2, 1, 4]), linked=0.3)
    assert found[0].tolist() == [0, 0.5, 1.0, 0.5, 0]  # Madison is shared by two; Rivers is named by itself alone
    assert found[1].tolist() == [0.3, 0.3, 0, 0, 0]  # the question names Hank Snow already
    assert not found[2].any()


def test_what_sources_mention(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot)
    rows = names.mention_matrix(np.array([3, 4, 0]))
    forms = np.array(spelled(snapshot, names))
    assert [set(forms[row]) for row in rows] == [{"madison", "zebra"}, set(), {"hello love", "hank snow"}]


def test_the_greatest_and_the_sum_over_mentions(snapshot: GraphSnapshot) -> None:
    names = names_of(snapshot)
    values = np.array([[float(owner * 10 + 1) for owner in names.owner], [-1.0] * len(names.owner)])
    assert names.max_over_mentions(values).tolist() == [[1, 11, 21, 31, 0], [-1, -1, -1, -1, 0]]
    assert names.sum_over_mentions(values).tolist() == [[2, 22, 42, 62, 0], [-2, -2, -2, -2, 0]]


def test_documents_that_are_not_asked_for_name_nothing(snapshot: GraphSnapshot) -> None:
    documents = frozenset([document("song"), document("park")])
    gathered = pool(snapshot, "Was Hank Snow in Madison?", dense=[0, 0], chunks=[0, 3], documents=documents)
    names = collect_names(gathered, snapshot, snapshot.graph(documents))
    assert told(snapshot, names) == {(0, "hello love"), (0, "hank snow"), (1, "madison"), (1, "zebra")}
    assert names.rarity.tolist() == [1.0] * 4  # each is now named by one chunk alone
    hidden = names_of(snapshot, "Was Hank Snow in Madison?", frozenset([document("plain")]))
    assert hidden.size == 0
    assert (hidden.titles == -1).all()
    assert hidden.linked.tolist() == []


def test_a_corpus_without_any_name() -> None:
    names = names_of(corpus(PLAIN, PLAIN))
    assert names.size == 0
    assert names.titles.tolist() == [[-1, -1], [-1, -1]]
    assert names.mention_matrix(np.array([0])).shape == (1, 0)
    assert names.max_over_mentions(np.zeros((1, 0))).tolist() == [[0, 0]]
    assert names.weigh_titles(np.zeros((3, 0), np.bool_)).tolist() == [[0, 0]] * 3
    assert names.weigh_reverse_titles(np.array([1]), linked=0.3).tolist() == [[0, 0]]


def test_an_empty_corpus() -> None:
    names = names_of(corpus())
    assert names.size == 0
    assert names.titles.shape == names.title_worth.shape == (0, 2)
    assert names.max_over_mentions(np.zeros((0, 0))).shape == (0, 0)
