"""Queries as they are typed into a search box, made from the passages of a corpus."""

import pytest

from tests.benchmarks.materials.typed import FORMS, KINDS, MOST_PASSAGES, Passage, stands_in, typed_queries

COMMON = "The reader should consult the general remarks before proceeding. "


def passage(number: int, text: str, *, title: str = "Manual", heading: str = "") -> Passage:
    return Passage(id=f"p{number}", title=title, heading=heading, text=COMMON + text)


CORPUS = [
    passage(1, "The error lock_not_available is raised as described in § 195 of the contract."),
    passage(2, "Release v1.8 has glp_ios_mip_gap, and release v1.9 drops it; see § 44-7-35 and No. 245178 there."),
    passage(3, "A headway is the interval between packets; the headway grows when clients misbehave."),
    passage(4, "The samples were taken by Veiko Sinivee, and questions go to the office."),
    passage(5, "Nothing else stands here.", heading="About the Ogg container and Ogg again, with containers"),
    *(passage(number, "Ordinary filler.") for number in range(6, 12)),
]


def words(*, count: int = 300, seed: int = 1) -> set[str]:
    return {query.word for query in typed_queries(CORPUS, count=count, seed=seed)}


def test_each_query_names_all_passages_with_its_word_and_at_most_three() -> None:
    queries = typed_queries(CORPUS, count=300, seed=1)
    assert queries
    for query in queries:
        having = {one.id for one in CORPUS if stands_in(query.word, f"{one.title}\n{one.heading}\n{one.text}")}
        assert set(query.passages) == having
        assert 0 < len(query.passages) <= MOST_PASSAGES


def test_identifiers_references_rare_words_and_names_are_found_and_common_words_are_not() -> None:
    found = words()
    assert {"lock_not_available", "glp_ios_mip_gap", "§ 195", "§ 44-7-35", "No. 245178", "headway"} <= found
    assert "Veiko Sinivee" in found
    assert not {"reader", "general", "remarks", "The", "Manual"} & found
    assert "interval" not in found, "a plain word that stands once may be a fragment"


@pytest.mark.parametrize(
    "text",
    [
        "mail to nobody@example.org nobody@example.org",
        "see /usr/share/secretfolder /usr/share/secretfolder",
        "a hyphen- ated hyphen- ated",
        "figures 3.52e-05 and 0.0531 and 24th and 1there",
        "xqzt xqzt hmmmm hmmmm DIFfer DIFfer",
    ],
    ids=["addresses", "paths", "divided words", "figures", "fragments"],
)
def test_addresses_figures_and_fragments_are_no_words(text: str) -> None:
    corpus = [Passage(id="p", title="", heading="", text=text)]
    asked = {query.word for query in typed_queries(corpus, count=50, seed=1)}
    assert not asked & {
        *("nobody", "example.org", "secretfolder", "share", "hyphen", "3.52e-05", "0.0531", "24th", "1there"),
        *("xqzt", "hmmmm", "DIFfer"),
    }


def test_the_same_seed_gives_the_same_queries_and_another_seed_others() -> None:
    first = typed_queries(CORPUS, count=8, seed=3)
    assert first == typed_queries(CORPUS, count=8, seed=3)
    assert first != typed_queries(CORPUS, count=8, seed=4)
    assert len({query.word for query in first}) == 8


def test_kinds_and_forms_take_turns_and_so_do_the_languages() -> None:
    corpus = [
        passage(n, f"item_{n} and item_{n}; § {n}; {word} {word}; by Anna {word.title()}, there.")
        for n, word in enumerate(_made_up(60))
    ]
    queries = typed_queries(corpus, count=120, seed=1)
    assert [query.kind for query in queries[:4]] == list(KINDS)
    assert [queries[n * len(KINDS)].form for n in range(3)] == list(FORMS)
    assert {query.language for query in queries if query.form == "question"} == {"en", "de", "fr"}
    assert all(query.word in query.text for query in queries if query.form == "question")
    assert all(query.text == query.word for query in queries if query.form == "alone")
    assert all(
        query.text.casefold() == query.word.casefold() and (query.text != query.word or not query.word.islower())
        for query in queries
        if query.form == "case" and query.kind != "reference"
    )


def test_a_version_is_asked_for_without_its_letter_in_a_question() -> None:
    corpus = [passage(n, f"Since v{n}.7 this holds.") for n in range(40)]
    asked = [query for query in typed_queries(corpus, count=40, seed=1) if query.form == "question"]
    assert asked
    assert all(not query.word.startswith("v") for query in asked)


@pytest.mark.parametrize(
    ("word", "text", "stands"),
    [
        ("1.8", "since v1.8.", True),
        ("1.8", "21.8 and 1.8.2 and 2.1.8", False),
        ("§ 13", "see § 13-8-50", False),
        ("§ 13", "see §\n13, below", True),
        ("lock", "lock_not_available", False),
        ("Lock_Not_Available", "(lock_not_available)", True),
        ("C++", "in C++ code", True),
    ],
)
def test_a_word_stands_in_a_text_as_a_whole_token(word: str, text: str, *, stands: bool) -> None:
    assert stands_in(word, text) is stands


def _made_up(count: int) -> list[str]:
    consonants = "bdfgklmnprst"
    return [f"{a}o{b}e{a}al" for a in consonants for b in consonants if a != b][:count]
