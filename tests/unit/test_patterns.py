r"""No regular expression of the product takes time that grows faster than its text: hostile texts would stop a server.

A pattern that fails here is written with possessive quantifiers (`\s*+`), a look behind that lets a match begin only
at the first character of a run (`(?<!\s)\s++$`), or bounds (`{1,80}`); or the text is parsed by hand.
"""

import re

import pytest

from tests.patterns import Used, attack, find_patterns

RUN_TIME_ONLY = {
    # an escaped name of the request's parameters, in an error of at most some hundred characters
    "models.chat.openai_chat",
    # an escaped key of an endpoint
    "models.endpoint_errors",
    # escaped pieces of a deleted text
    "app.services.sweep",
    # an escaped name of an entity
    "app.services.made_questions.sources",
    # escaped names of entities
    "indexer.extractors._occurrences",
    # made for each level, and kept in a dictionary that is looked into
    "indexer.loading.texts.chapter_words",
    # an escaped number of a version in a question
    "core.passage_context.named_parts",
    # an escaped word of the question, of at most 400 characters
    "retrieval.candidates.pool",
}


@pytest.mark.slow
def test_every_pattern_is_linear() -> None:
    patterns, unknown = find_patterns()
    assert len(patterns) > 100
    assert {place.partition(":")[0] for place in unknown} == RUN_TIME_ONLY
    slow = {one.place: found for one in patterns if (found := attack(one))}
    assert slow == {}


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+$", "sub"),
        (r"(a+)+b", "match"),
        (r"<(?=\s*/?\s*(?:passage|quote)\b)", "sub"),
        (r"(?:\s*\[)+(\d{1,3}(?:\s*[-,]\s*\d{1,3})*)\]", "finditer"),
        (r"<think>.*?</think>", "sub"),
        (r"\bAnswer\s*:?\s*\n?\s*(.+)", "search"),
        (r'"((?:[^"\\]|\\.)*)"', "findall"),
        (r"(\S.*?)\s*\(([^()]+)\)", "fullmatch"),
        (r"[\r\n]+(?=[ \t])", "sub"),
    ],
)
def test_a_bad_pattern_is_found(pattern: str, method: str) -> None:
    assert attack(Used(place="", pattern=re.compile(pattern), methods=frozenset({method})))


@pytest.mark.parametrize(
    ("pattern", "method"),
    [(r"(?<!\s)\s++$", "sub"), (r"\w+", "finditer"), (r"a*+b", "match"), (r"<(?=\s*+(?:/\s*+)?passage\b)", "sub")],
)
def test_a_good_one_is_not(pattern: str, method: str) -> None:
    assert attack(Used(place="", pattern=re.compile(pattern), methods=frozenset({method}))) is None
