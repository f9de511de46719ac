"""Names in questions: by capitals where there are any, by the longest name where there are none, in any script."""

from itertools import pairwise

import numpy as np
import pytest

from retrieval.graph.names import build_name_index, fold_name
from retrieval.pagerank.name_linking import link_names

NAMES = [
    "hello love", "love", "the beatles", "c", "c++", "c#", ".net", "josé martí", "jose marti park", "søren kierkegaard",
    "红楼梦", "曹雪芹", "東京", "война и мир", "u.s.", "world war 2", "1984", "o'brien", "jean-luc godard", "where",
    "music", "กรุงเทพ", "straße", "naïve", "naive",
]  # fmt: skip
INDEX = build_name_index(np.array(NAMES, object))


def always(_word: str) -> float:
    return 1.0


def linked(question: str) -> list[tuple[str, list[str]]]:
    return [
        (question[one.start : one.end], [NAMES[i] for i in one.entities]) for one in link_names(question, INDEX, always)
    ]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who sang Hello Love?", ["hello love"]),
        ("who sang hello love's chorus?", ["hello love"]),
        ("WHO SANG HELLO LOVE?", ["hello love"]),
        ("Who formed the Beatles in the U.S.?", ["the beatles", "u.s."]),
        ("Who formed The Beatles?", ["the beatles"]),
        ("Is C# older than C++ or C?", ["c#", "c++", "c"]),
        ("Does .NET run it?", [".net"]),
        ("Where was Jose Marti born?", ["josé martí"]),
        ("Who wrote about Søren Kierkegaard?", ["søren kierkegaard"]),
        ("谁写了红楼梦，曹雪芹是谁？", ["红楼梦", "曹雪芹"]),
        ("用C++写红楼梦", ["c++", "红楼梦"]),
        ("東京はどこですか", ["東京"]),
        ("กรุงเทพอยู่ที่ไหน", ["กรุงเทพ"]),
        ("Кто написал «Война и мир»?", ["война и мир"]),
        ("What of World War 2 is in 1984?", ["world war 2", "1984"]),
        ("Who is O’Brien?", ["o'brien"]),
        ("What did Jean Luc Godard film?", ["jean-luc godard"]),
        ("Did the Beatles love music?", ["the beatles"]),
        ("where is music?", ["music"]),
        ("Where is it?", []),
        ("", []),
        ("?!", []),
    ],
)
def test_the_names_of_a_question(question: str, names: list[str]) -> None:
    assert [name for _, bearers in linked(question) for name in bearers] == names


def test_the_exact_form_and_the_longest_name_win() -> None:
    assert linked("Who is Naive?") == [("Naive", ["naive"])]
    assert linked("Who is Naïve?") == [("Naïve", ["naïve"])]
    assert linked("Is the Jose Marti Park open?") == [("the Jose Marti Park", ["jose marti park"])]
    found = link_names("Hello Love Hello Love The Beatles of the U.S. in 1984", INDEX, always)
    assert all(a.end <= b.start for a, b in pairwise(found)), "in order and apart"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("The Beatles", "beatles"),
        ("The Who", "the who"),
        ("José Martí", "jose marti"),
        ("C++", "c++"),
        ("F#", "f#"),
        ("U.S.", "u s"),
        ("Straße", "strasse"),
        ("+++", "+++"),
        ("กรุงเทพ", "กรุงเทพ"),
        ("Достоевский", "достоевскии"),
    ],
)
def test_keys_leave_out_what_spellings_differ_in(name: str, key: str) -> None:
    assert fold_name(name) == key
    assert fold_name("がく") != fold_name("かく")


def test_an_index_that_takes_over_an_older_one_finds_the_same() -> None:
    ids = np.array([f"{i:03}" for i in range(len(NAMES))], np.bytes_)
    old = build_name_index(np.array(NAMES[::2], object), ids[::2])
    taken = build_name_index(np.array(NAMES, object), ids, (old, ids[::2]))
    assert taken.hashes.tolist() == INDEX.hashes.tolist()
    assert taken.order.tolist() == INDEX.order.tolist()
