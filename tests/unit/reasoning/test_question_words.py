"""Which words of a question a sentence lacks, so that `extractive` does not call it stated."""

import time

import pytest

from reasoning.shared.wording import find_missing_words


@pytest.mark.parametrize(
    ("question", "sentence", "missing"),
    [
        ("Who directed Big Eyes?", "Big Eyes is a film directed by Tim Burton.", ()),
        ("Who is the wife of Kim Jong-chul?", "Kim Jong-chul is a son of Kim Jong-il.", ("wife",)),
        ("Which river flows through Oklahoma City?", "The North Canadian flows through Oklahoma City.", ()),
        ("How many stores are in Ohio?", "There are 35 stores in Ohio.", ()),
        ("When was Acme founded, and founded where?", "Acme is a firm.", ("founded",)),
        ("Welche Stadt liegt an der Fulda?", "Kassel liegt an der Fulda.", ()),
        ("塔尔萨在哪里", "塔尔萨在哪里", ()),
        ("Who is he?", "He is who he is.", ("Who", "is", "he?")),
        ("", "Anything.", ()),
    ],
)
def test_words_that_are_missing(question: str, sentence: str, missing: tuple[str, ...]) -> None:
    assert find_missing_words(question, sentence, "") == missing


def test_the_title_names_what_the_sentence_is_about() -> None:
    assert find_missing_words("Where was Hank Snow born?", "He was born in Brooklyn.", "Hank Snow") == ()


def test_a_long_question_is_read_in_linear_time() -> None:
    began = time.thread_time()
    find_missing_words("x " * 10_000, "y " * 10_000, "")
    assert time.thread_time() - began < 5
