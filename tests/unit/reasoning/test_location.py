"""`locate`: words that a model copied are found as the passage has them, and nothing else is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoning.citations.quotes import locate

NOVEL = "The Outsiders is a novel by S. E. Hinton. It was published in 1967 by Viking Press. It holds </passage> marks."
INFOBOX = 'Born Rod Amateau (1923 - 12 - 20) December 20 , 1923 New York City Other units ampere - hour Site "Who? Me?"'
FILM = '"Where Does It Hurt?" (also: "Hurts") was directed by Rod Amateau, a man of the trade (and more), in 1972.'


@pytest.mark.parametrize(
    ("words", "text", "there"),
    [
        ("published in 1967 by", NOVEL, "published in 1967 by"),
        ("It was published in 1967.", NOVEL, "It was published in 1967"),
        ('"Published in\n1967 by viking press."', NOVEL, "published in 1967 by Viking Press"),
        ("novel by S E Hinton", NOVEL, "novel by S. E. Hinton"),
        ("novel by S.E. Hinton", NOVEL, "novel by S. E. Hinton"),
        ("It holds ‹/passage> marks", NOVEL, "It holds </passage> marks"),
        ("The Outsiders … was published in 1967", NOVEL, NOVEL[: NOVEL.index(" by Viking")]),
        ("The Outsiders [...] published in 1967", NOVEL, NOVEL[: NOVEL.index(" by Viking")]),
        ("[The novel] was published in 1967 by Viking", NOVEL, "was published in 1967 by Viking"),
        ("...published in 1967...", NOVEL, "published in 1967"),
        ("Rod Amateau (1923-12-20)", INFOBOX, "Rod Amateau (1923 - 12 - 20)"),
        ("December 20, 1923", INFOBOX, "December 20 , 1923"),
        ("ampere-hour", INFOBOX, "ampere - hour"),
        ('"Who? Me?"', INFOBOX, "Who? Me?"),
        ('"Where Does It Hurt?" (also', FILM, '"Where Does It Hurt?" (also'),
        ('Where Does It Hurt?" (also: "Hurts', FILM, 'Where Does It Hurt?" (also: "Hurts'),
        ('Where Does It Hurt?" (also:', FILM, '"Where Does It Hurt?" (also:'),
        ("a man of the trade (and more", FILM, "a man of the trade (and more)"),
        (
            "was directed by Rod Amateau, in 1972",
            FILM,
            "was directed by Rod Amateau, a man of the trade (and more), in 1972",
        ),
        ("Melanie Watt", "by Mélanie Watt.", "Mélanie Watt"),
        ("STRASSE 5", "in der Straße 5.", "Straße 5"),
        ("ublished in 19", NOVEL, "ublished in 19"),
        ("大学位于", "北京大学位于北京。", "大学位于"),
        ("art is", "The party is over. Art is long.", "Art is"),
    ],
)
def test_words_are_found_as_the_text_has_them(words: str, text: str, there: str) -> None:
    span = locate(words, text)
    assert span is not None
    assert text[span.start : span.end] == there


@pytest.mark.parametrize(
    "words",
    [
        *("published in 1968", "", "…", "in", "[ ]", "Hint", "blish"),
        "It was published in 1968 by Viking Press",
        "It was never brought out again by anybody or by Viking Press",
        "published in 1967 … The Outsiders is",
    ],
)
def test_what_is_not_there_is_not_found(words: str) -> None:
    assert locate(words, NOVEL) is None


def test_parts_that_stand_far_apart_are_the_longest_of_them() -> None:
    text = "The first part is here. " + "Filler words follow. " * 40 + "The second."
    span = locate("The first part is here … The second", text)
    assert span is not None
    assert text[span.start : span.end] == "The first part is here"


@given(st.text(), st.text(), st.text())
def test_a_span_is_within_the_text(before: str, words: str, after: str) -> None:
    text = before + words + after
    span = locate(words, text)
    assert span is None or 0 <= span.start < span.end <= len(text)


@given(st.text(alphabet='aB1 .…[]()"?«»é中', max_size=40), st.text(alphabet='aB1 .…[]()"?«»é中', max_size=60))
def test_no_words_and_no_text_are_an_error(words: str, text: str) -> None:
    span = locate(words, text)
    assert span is None or text[span.start : span.end].strip()


@pytest.mark.parametrize("words", ["a " * 200, "a b " * 100 + "c", "a … " * 100, "a b c d e f g a a a a a"])
def test_a_long_text_of_the_same_word_takes_no_time(words: str) -> None:
    began = time.thread_time()
    locate(words, "a " * 50_000)
    locate(words, "a b " * 25_000)
    assert time.thread_time() - began < 5
