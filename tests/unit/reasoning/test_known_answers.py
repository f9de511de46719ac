"""Marks of answers that are not stated, which must not get into a question."""

from core.ports.reasoning import Support
from reasoning.plans.known_answers import KnownAnswer, list_marks


def _known(support: Support) -> KnownAnswer:
    return KnownAnswer(question="Who?", answer="Ines Corvo", support=support)


def test_the_marks_are_those_of_answers_that_are_not_stated() -> None:
    assert list_marks([_known(support) for support in (*Support, Support.INFERRED)], "Where?") == [
        "(inferred",
        "(memory",
    ]


def test_what_the_question_holds_itself_is_no_mark() -> None:
    known = [_known(Support.INFERRED), _known(Support.MEMORY)]
    assert list_marks(known, "What does (inferred) mean in <A1.1>?") == ["(memory"]
