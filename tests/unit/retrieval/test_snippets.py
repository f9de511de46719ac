"""Snippets: which sentence of a passage is shown, and what is marked in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.presentation import Snippet, make_snippet


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


TABLE = "City: Hamburg | Bridges: 2500\nCity: St. Louis | Bridges: 12\nCity: Venice | Bridges: 438\n"


def test_of_a_table_a_whole_row_is_shown() -> None:
    rows = "".join(f"City: Town {number} of many | Bridges: {number}\n" for number in range(200))
    assert make_snippet(rows + TABLE, weights(hamburg=2.0)).text == "City: Hamburg | Bridges: 2500"
    assert make_snippet(TABLE, weights(loui=2.0, bridg=1.0)).text == "City: St. Louis | Bridges: 12"
    text = f"Bridges are many. Venice has gondolas.\n{TABLE}"
    assert make_snippet(text, weights(venic=1.0, bridg=1.0)).text == "City: Venice | Bridges: 438"
    assert make_snippet(text, weights(gondola=1.0)).text == "Venice has gondolas."
    tabs = "Hamburg\t2500\nVenice\t438"
    assert make_snippet(tabs, weights(venic=1.0)).text == "Venice\t438"


def test_of_lines_without_ends_of_sentences_one_is_shown() -> None:
    text = "".join(f"number {number} of the list\n" for number in range(100))
    assert make_snippet(text, {"77": 1.0}).text == "number 77 of the list"


@pytest.mark.parametrize("leader", [" ........ 12", "......", " . . . . . . iv", "______12", " ……… … … 7"])
def test_a_line_of_a_table_of_contents_is_shown_only_if_nothing_else_is_found(leader: str) -> None:
    contents = f"The engine and its design{leader}\nThe end{leader}\n"
    text = f"{contents}\nThe engine was large. It is gone.\n"
    assert make_snippet(text, weights(engin=1.0, design=3.0)).text == "The engine was large."
    assert make_snippet(text, weights(design=3.0)).text == f"The engine and its design{leader}"
    assert make_snippet(text, {}).text == "The engine was large."


def test_many_dots_are_looked_at_in_linear_time() -> None:
    assert make_snippet(". " * 9_000 + "end" + "." * 900 + " fox", weights(fox=1.0)).text.endswith("fox")


def test_a_part_of_a_long_sentence_begins_and_ends_with_whole_words() -> None:
    for before in range(280, 340):
        text = f"{'x' * 40} {'y' * (before - 41)} engine {'z' * (600 - before)} end"
        snippet = make_snippet(text, weights(engin=1.0))
        assert marked(snippet) == ["engine"]
        assert set(snippet.text.split()) <= set(text.split())


def test_a_record_and_an_entry_of_a_log_are_shown_alone() -> None:
    towns = ("Ulm", "Bonn", "Köln")
    records = "\n".join(f"No: {n}; Day: {n}.3.2025; To: shop in {town}; Sum: {n},50" for n, town in enumerate(towns))
    shown = "No: 1; Day: 1.3.2025; To: shop in Bonn; Sum: 1,50"
    assert make_snippet(records, weights(shop=0.1, bonn=1.0)).text == shown
    log = "\n".join(f"2025-03-10T00:00:0{n}Z INFO unit {town} is kept" for n, town in enumerate(towns))
    assert make_snippet(log, weights(unit=0.1, bonn=1.0)).text == "2025-03-10T00:00:01Z INFO unit Bonn is kept"


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
