"""The quotes of a plan's steps in the prompt of its last call: which are shown, and under which numbers."""

from core.documents import Span
from core.ports.reasoning import Quote
from reasoning.actions.answers.conclude import MAX_QUOTE_WORDS, quote_steps
from reasoning.plans.known_answers import KnownAnswer
from testing.word_search import hit


def _quote(key: str, text: str = "It is so.") -> Quote:
    return Quote(hit=hit(key, key.title(), text), text=text, span=Span(start=0, end=len(text)))


def _step(number: int, *quotes: Quote) -> KnownAnswer:
    return KnownAnswer(question=f"Who is {number}?", answer=str(number), quotes=quotes)


def test_quotes_are_numbered_through_all_steps() -> None:
    steps = quote_steps([_step(1, _quote("a"), _quote("b")), _step(2), _step(3, _quote("c"))])
    assert steps.text == (
        "<known>\nQuestion: Who is 1?\nAnswer: 1\n[1] A: It is so.\n[2] B: It is so.\n</known>\n"
        "<known>\nQuestion: Who is 2?\nAnswer: 2\n</known>\n"
        "<known>\nQuestion: Who is 3?\nAnswer: 3\n[3] C: It is so.\n</known>"
    )
    assert [quote.hit.document.key for quote in steps.quotes] == ["a", "b", "c"]
    assert steps.shown == ("A\nIt is so.", "B\nIt is so.", "C\nIt is so."), "questions and answers are no evidence"
    assert steps.left_out == 0


def test_a_quote_of_several_steps_has_one_number() -> None:
    steps = quote_steps([_step(1, _quote("a")), _step(2, _quote("b"), _quote("a"))])
    assert "[2] B: It is so.\n[1], as above\n</known>" in steps.text
    assert len(steps.quotes) == 2
    assert steps.text.count("It is so.") == 2


def test_the_first_quote_of_each_step_is_always_shown_and_others_within_a_number_of_words() -> None:
    long = "word " * (MAX_QUOTE_WORDS - 10)
    first = _step(1, _quote("a", long), _quote("b", "word " * 20), _quote("c"))
    steps = quote_steps([first, _step(2, _quote("d", long))])
    assert [quote.hit.document.key for quote in steps.quotes] == ["a", "d"]
    assert steps.left_out == 2

    steps = quote_steps([first, _step(2)])
    assert [quote.hit.document.key for quote in steps.quotes] == ["a", "c"]
    assert steps.left_out == 1


def test_no_steps_have_no_quotes() -> None:
    assert quote_steps([]).quotes == ()
