"""The roles of documents, from the answers with and without them."""

import pytest

from core.ports.reasoning import Support
from core.verification import DocumentRole
from reasoning.verification.sameness import compare_quotes, decide_role
from tests.unit.reasoning.verification.given import cited, given, located, without

_STATED, _QUOTED, _INFERRED, _MEMORY, _NONE = Support


@pytest.mark.parametrize(
    ("before", "after", "same", "role"),
    [
        (_STATED, _NONE, False, "needed"),
        (_STATED, _INFERRED, True, "needed"),
        (_STATED, _INFERRED, None, "needed"),
        (_STATED, _QUOTED, None, "needed"),
        (_QUOTED, _NONE, None, "needed"),
        (_QUOTED, _QUOTED, True, "redundant"),
        (_QUOTED, _QUOTED, None, "unclear"),
        (_INFERRED, _MEMORY, True, "needed"),
        (_STATED, _STATED, True, "redundant"),
        (_INFERRED, _INFERRED, True, "redundant"),
        (_INFERRED, _STATED, True, "redundant"),
        (_STATED, _STATED, False, "contradicts"),
        (_INFERRED, _STATED, False, "contradicts"),
        (_INFERRED, _INFERRED, False, "needed"),
        (_STATED, _STATED, None, "unclear"),
        (_INFERRED, _INFERRED, None, "unclear"),
    ],
)
def test_the_role_of_a_document(before: Support, after: Support, same: bool | None, role: str) -> None:
    answer = given(cited("ada"), support=before)
    decided, why = decide_role(answer, without("Grace", after), same, ())
    assert decided == role
    assert why.endswith(".")
    assert ("Grace" in why) == (role != "redundant" and after is not _NONE)


def test_a_redundant_document_is_told_with_what_replaces_it() -> None:
    role, why = decide_role(given(cited("ada")), without("Ada", _STATED), True, (located("copy"), located("notes")))
    assert role is DocumentRole.REDUNDANT
    assert why == "The same answer stands without it, on “Copy”, “Notes”."


_QUESTION = "When was Ada Lovelace born in London?"
_BORN = "Ada Lovelace was born in London in 1815."
_KNEW = "She knew Charles Babbage."


def test_an_answer_of_quotes_stands_on_those_with_most_words_of_the_question() -> None:
    born, knew = cited("born", quotes=(_BORN,)), cited("knew", quotes=(_KNEW,))
    answer = given(born, knew)
    assert compare_quotes(_QUESTION, answer, born, {_BORN, _KNEW}) is True
    assert compare_quotes(_QUESTION, answer, knew, {_BORN, "Other words."}) is True


def test_quotes_that_do_not_come_back_decide_nothing() -> None:
    born = cited("born", quotes=(_BORN,))
    for quotes in ({_BORN.replace("1815", "1816")}, {_KNEW}, set[str]()):
        assert compare_quotes(_QUESTION, given(born), born, quotes) is None
