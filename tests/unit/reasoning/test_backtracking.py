"""Whether an answer leads on: what the next step found, and whether its passages name the answer."""

import pytest

from core.ports.reasoning import Quote, Support
from reasoning.citations.quotes import select_quote
from reasoning.plans.backtracking import leads_on
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer
from testing.word_search import hit


def quote(text: str) -> Quote:
    return select_quote(hit("key", "A page", text), text, "What?")


@pytest.mark.parametrize(
    ("answer", "support", "passages", "leads"),
    [
        ("Ines Corvo", Support.STATED, ["He was born in Lindau."], True),
        ("Ines Corvo", Support.MEMORY, [], True),
        ("Ines Corvo", Support.NONE, [], False),
        ("Ines Corvo", Support.INFERRED, [], True),  # from the answer itself
        ("Ines Corvo", Support.INFERRED, ["He was born in Lindau."], False),
        ("Ines Corvo", Support.INFERRED, ["Ines Corvo lived in Lindau."], True),
        ("Ines Corvo", Support.INFERRED, ["Ines Arel lived in Lindau."], False),
        ("Ines Corvo", Support.INFERRED, ["Ines Arel lived there.", "The Corvo house: Ines kept it."], True),
        ("S. E. Hinton", Support.INFERRED, ["Hinton lived in Tulsa."], True),
        ("Madurai, India", Support.INFERRED, ["Paris is in France."], False),
        ("Tomas Arel; Ines Corvo", Support.INFERRED, ["Ines Corvo lived in Lindau."], True),
        ("1967", Support.INFERRED, ["In 1968 it sold well."], False),
        ("1967", Support.INFERRED, ["In 1967 it sold well."], True),
        ("?", Support.INFERRED, ["In 1967 it sold well."], True),  # no word to look for
    ],
)
def test_an_answer_leads_on(answer: str, support: Support, passages: list[str], *, leads: bool) -> None:
    parent = KnownAnswer(question="Who directed it?", answer=answer)
    found = UNKNOWN if support is Support.NONE else "Lindau"
    child = KnownAnswer(question="Where?", answer=found, support=support, quotes=tuple(map(quote, passages)))
    assert leads_on(parent, child) is leads
