"""Snippets: which sentence of a passage is shown, and what is marked in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.presentation.snippets import Snippet, make_snippet


def weights(**stems: float) -> dict[str, float]:
    return stems


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[mark.start : mark.end] for mark in snippet.marks]


def test_the_sentence_with_the_rarest_words_is_taken() -> None:
    text = "It rained in London.\n\nThe engine was designed in London. Nobody built the engines."
    snippet = make_snippet(text, weights(london=1.0, engin=2.0, design=3.0))
    assert snippet.text == "The engine was designed in London."
    assert marked(snippet) == ["engine", "designed", "London"]
    assert text[snippet.span.start : snippet.span.end] == snippet.text
    assert make_snippet(text, weights(built=9.0, london=1.0)).text == "Nobody built the engines."


def test_of_equal_sentences_it_is_the_first_and_a_repeated_word_counts_once() -> None:
    text = "Rain fell. Some rain, more rain, only rain. It stopped."
    assert make_snippet(text, weights(rain=1.0)).text == "Rain fell."
    assert make_snippet(text, {}) == make_snippet(text, weights(snow=1.0))
    assert make_snippet(text, {}).text == "Rain fell."
    assert make_snippet(text, {}).marks == ()


@pytest.mark.parametrize(
    ("text", "stems", "sentence", "words"),
    [
        ("他住在上海。北京大学位于北京。", ("北京", "京大", "大学"), "北京大学位于北京。", ["北京大学", "北京"]),
        ("Было тихо. Москва — столица России.", ("столиц",), "Москва — столица России.", ["столица"]),
        ("हिन्दी एक भाषा है। दिल्ली राजधानी है।", ("दिल्ल",), "दिल्ली राजधानी है।", ["दिल्ली"]),
        ("Il pleut encore. Le café est fermé.", ("cafe",), "Le café est fermé.", ["café"]),
    ],
)
def test_words_of_any_script_are_marked(text: str, stems: tuple[str, ...], sentence: str, words: list[str]) -> None:
    snippet = make_snippet(text, dict.fromkeys(stems, 1.0))
    assert snippet.text == sentence
    assert marked(snippet) == words


def test_of_a_long_sentence_the_part_that_weighs_most_is_shown() -> None:
    text = "engine " + "filler " * 100 + "the design of the engine in London " + "padding " * 100
    snippet = make_snippet(text, weights(engin=1.0, design=1.0, london=1.0))
    assert marked(snippet) == ["design", "engine", "London"]
    assert 250 < len(snippet.text) <= 320
    assert text[snippet.span.start : snippet.span.end] == snippet.text
    assert snippet.text.split()[0] == "filler"
    assert snippet.text.split()[-1] == "padding"
    assert len(make_snippet("x" * 5_000, {}).text) == 320
    assert len(make_snippet("京" * 5_000, {"京京": 1.0}).text) == 320


def test_a_blank_passage_has_a_blank_snippet() -> None:
    assert make_snippet(" \n", weights(rain=1.0)).text == ""
    assert make_snippet("", {}).text == ""


@given(st.text(alphabet="ab .\n京都é!?([", max_size=900))
def test_places_are_inside_and_do_not_overlap(text: str) -> None:
    snippet = make_snippet(text, weights(ab=1.0, ba=2.0, 京都=3.0))
    assert text[snippet.span.start : snippet.span.end] == snippet.text
    assert snippet.text == snippet.text.strip()
    assert len(snippet.text) <= 320
    end = 0
    for mark in snippet.marks:
        assert end <= mark.start < mark.end <= len(snippet.text)
        end = mark.end
