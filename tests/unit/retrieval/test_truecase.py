"""Truecasing: what a corpus tells about names by casing, and what it does not if it is written in capitals."""

import numpy as np
import pytest

from core.text.terms import extract_terms
from retrieval.graph.names import build_name_index
from retrieval.graph.terms import ChunkTerms, TermStatistics, count_terms, read_chunk_terms
from retrieval.pagerank.name_linking import build_name_share, link_names

PROSE = [
    "The station lies at the border, and Lyon sent two trains there.",
    "In winter the river freezes; people of Lyon then skate on the river.",
    "A letter from Lyon said that the bridge had fallen into the water.",
    "Bread is sold at the bridge, where the miller of Auxerre has a stall.",
]
CAPITALS = [text.upper() for text in PROSE]
NAMES = ["lyon", "auxerre", "bridge", "river", "station"]


def terms(texts: list[str]) -> ChunkTerms:
    return read_chunk_terms([f"c{n}" for n in range(len(texts))], [extract_terms([], text).tobytes() for text in texts])


def statistics(*texts: str) -> TermStatistics:
    return count_terms(terms(list(texts)))


def linked(question: str, found: TermStatistics, names: list[str] = NAMES) -> list[str]:
    index = build_name_index(np.array(names, object))
    return [question[one.start : one.end] for one in link_names(question, index, build_name_share(found))]


def test_an_ordinary_corpus_tells_names_from_words() -> None:
    found = statistics(*PROSE)
    assert found.is_cased
    share = build_name_share(found)
    assert share("lyon") == share("LYON") == 1
    assert share("auxerre") == 1
    assert share("river") == share("Rivers") == pytest.approx(0.5 / 2.5), "twice, each time without a capital"
    assert share("bridge") == pytest.approx(0.5 / 2.5)
    assert share("the") == share("") == share("?") == 0


def test_the_share_is_by_the_capitals_within_sentences() -> None:
    """Rivers are written thrice without a capital and once with one, in the middle of a sentence."""
    share = build_name_share(statistics("a river, a river, a river", "We saw the River of gold. River is a word."))
    assert share("river") == pytest.approx((1 + 0.5) / (1 + 3 + 0.5))


def test_a_corpus_in_capitals_gives_no_names() -> None:
    found = statistics(*CAPITALS)
    assert not found.is_cased
    share = build_name_share(found)
    assert [share(word) for word in (*NAMES, "LYON", "unheard", "1984")] == [0] * 8


def test_a_question_without_capitals_has_names_in_an_ordinary_corpus_alone() -> None:
    question = "did the river at lyon reach the bridge?"
    assert linked(question, statistics(*PROSE)) == ["lyon"]
    assert linked(question, statistics(*CAPITALS)) == []
    assert linked("DID THE RIVER AT LYON REACH THE BRIDGE?", statistics(*CAPITALS)) == []


def test_a_question_with_capitals_has_its_names_in_any_corpus() -> None:
    for texts in (PROSE, CAPITALS):
        assert linked("Did the river at Lyon reach the bridge?", statistics(*texts)) == ["Lyon"]
    name = "north lyon street"
    assert linked(f"who lived in {name}", statistics(*CAPITALS), [name]) == [name], "of several words"


@pytest.mark.parametrize(("prose", "cased"), [(0, False), (1, False), (10, True), (40, True)])
def test_a_few_lower_case_words_do_not_make_a_corpus_cased(prose: int, *, cased: bool) -> None:
    """Of 40 words, each in a text of its own, so many are in lower case."""
    words = [f"{a}{b}{a}o" for a in "bdfgkmnp" for b in "aeiou"]
    found = statistics(*(word if n < prose else word.upper() for n, word in enumerate(words)))
    assert found.is_cased is cased


def test_headings_in_capitals_do_not_make_an_ordinary_corpus_uncased() -> None:
    texts = [f"{capitals[:30]}\n{text}" for capitals, text in zip(CAPITALS, PROSE, strict=True)]
    assert statistics(*texts).is_cased


def test_layers_over_a_corpus_in_capitals_or_in_prose_count_as_much_as_its_own_texts() -> None:
    for before, after in ((CAPITALS, PROSE), (PROSE, CAPITALS)):
        layered = statistics(*before).layer(removed=terms(before), added=terms(after))
        assert layered.is_cased is count_terms(terms(after)).is_cased is (after is PROSE)
    grown = statistics(CAPITALS[0]).layer(removed=terms([]), added=terms(PROSE))
    assert grown.is_cased
    assert build_name_share(grown)("auxerre") == 1


def test_without_any_word_nothing_speaks_against_names() -> None:
    for texts in ([], [""], ["The of and"], ["?!"]):
        share = build_name_share(statistics(*texts))
        assert share("lyon") == 1
        assert share("the") == 0


@pytest.mark.parametrize(("text", "share"), [("lyon", 0.5 / 1.5), ("in Lyon lives one", 1)])
def test_a_corpus_of_one_text_tells_what_it_can(text: str, share: float) -> None:
    assert build_name_share(statistics(text))("lyon") == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("הספר נמצא בירושלים ליד השער", "בירושלים"),
        ("ذهب الرجل إلى القاهرة في الشتاء", "القاهرة"),
        ("यह किताब दिल्ली में लिखी गई", "दिल्ली"),
        ("이 책은 서울에서 쓰였다", "서울에서"),
    ],
)
def test_scripts_without_capitals_have_names(text: str, name: str) -> None:
    """Casing tells nothing about such a word, neither for nor against."""
    found = statistics(text)
    assert build_name_share(found)(name) == 1
    assert linked(text, found, [name]) == [name]


def test_a_latin_name_in_a_corpus_without_capitals_is_no_name_by_casing() -> None:
    assert build_name_share(statistics("הספר נמצא בירושלים ליד השער"))("lyon") == 0
