"""Which unit states the fact that a question of one relation asks for."""

import pytest

from core.ports.retrieval import Fact, PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.stated import asks_of_relation, order_by_facts
from reasoning.strategies.extractive.quoting.units import list_units
from testing.word_search import hit

_TEXT = (
    "The Orell Bridge of Ulm is a bridge near Basel. Many who use the Orell Bridge ask when it opened. "
    "It was opened on 5 March 1861. It was closed in 1903 by Rolf Ebert. Ada Lund designed and founded it."
)
_HIT = hit("a", "Orell Bridge", _TEXT)
_CHUNK = _HIT.chunk.id
_OPENED = Fact("Orell Bridge", "was opened on", "5 March 1861", _CHUNK)
_PLACE = Fact("Orell Bridge", "is bridge near", "Basel", _CHUNK)
_CLOSED = Fact("Orell Bridge", "was closed by", "Rolf Ebert", _CHUNK)
_CLOSED_IN = Fact("Orell Bridge", "was closed in", "1903", _CHUNK)
_FOUNDED = Fact("Ada Lund", "founded", "Orell Bridge", _CHUNK)
_FACTS = (_OPENED, _PLACE, _CLOSED, _CLOSED_IN, _FOUNDED)


def first_of(question: str, *facts: Fact) -> str:
    """Returns the unit that goes first by facts, or '' if none does."""
    units = list_units(read_question(question, PassageCounts()), [_HIT], 200)
    order = order_by_facts(question, facts, units)
    return units[order[0]].text if order else ""


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("When was the Orell Bridge opened?", "It was opened on 5 March 1861."),
        ("When was the Orell Bridge closed?", "It was closed in 1903 by Rolf Ebert."),
        ("Who closed the Orell Bridge?", "It was closed in 1903 by Rolf Ebert."),
        ("Who founded the bridge of Orell?", "Ada Lund designed and founded it."),
        ("Where is the Orell Bridge located?", "The Orell Bridge of Ulm is a bridge near Basel."),
    ],
)
def test_the_sentence_whose_fact_has_what_is_asked_for_goes_first(question: str, sentence: str) -> None:
    assert first_of(question, *_FACTS) == sentence


def test_words_of_the_title_need_not_be_in_the_fact() -> None:
    assert first_of("Who closed the Orell Bridge?", _CLOSED._replace(subject="Orell")).startswith("It was closed")


@pytest.mark.parametrize(
    "question",
    [
        "When was the Orell Bridge sold?",  # another relation
        "When was the Tern Tower opened?",  # another thing
        "Who closed the Orell Bridge with Ines Corvo?",  # more than the fact says
        "Did Rolf Ebert close the Orell Bridge?",  # nothing new
        "Where was the Orell Bridge closed?",  # no place
    ],
)
def test_a_fact_that_does_not_answer_changes_nothing(question: str) -> None:
    assert first_of(question, *_FACTS) == ""


def test_what_is_denied_or_only_possible_does_not_answer() -> None:
    for relation in ("was not closed by", "may close", "never closed"):
        assert first_of("Who closed the Orell Bridge?", _CLOSED._replace(predicate=relation)) == ""


def test_a_fact_of_another_passage_or_without_its_sentence_changes_nothing() -> None:
    question = "Who closed the Orell Bridge?"
    assert first_of(question, _CLOSED._replace(chunk_id="elsewhere")) == ""
    assert first_of(question, _CLOSED._replace(object="Ines Corvo")) == ""


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who founded Orell Press?", True),
        ("When was it opened?", True),
        ("orell press", False),
        ("Why is the sky blue?", False),
        ("Who?", False),
        ("Who " + " ".join(f"name{n}" for n in range(40)), False),
    ],
)
def test_a_question_of_one_relation_is_short_and_asks_for_a_value(question: str, asks: bool) -> None:
    assert asks_of_relation(question) is asks
