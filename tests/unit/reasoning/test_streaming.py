"""The answer is streamed out of the JSON object that a model writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import TokenEvent
from core.trace import Trace
from reasoning.engine.calls import AnswerStream, read_partial_answer


def stream(written: str, lengths: list[int], sources: int = 2) -> list[str]:
    trace = Trace()
    tokens = AnswerStream(trace, sources)
    for length in [*lengths, len(written)]:
        tokens(written[:length])
        written = written[length:]
    tokens.end()
    return [event.text for event in trace.events if isinstance(event, TokenEvent)]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("It is 1967 [1].", "It is 1967 [1]."),
        ("It is 1967 [9].", "It is 1967."),
        ("", ""),
        ('She said "no" [1, 2]', 'She said "no" [1] [2]'),
        ("So [2], and so [1]; so [2].", "So [1], and so [2]; so [1]."),
        ("a [ b", "a [ b"),
        ("北京大学 😀 [2]", "北京大学 😀 [1]"),
    ],
)
def test_markers_are_held_back_until_they_are_whole(answer: str, shown: str) -> None:
    written = json.dumps({"thoughts": "It [1] is so.", "answer": answer, "support": "stated", "unstated": ""})
    pieces = stream(written, [1] * len(written))
    assert "".join(pieces) == shown
    assert not any(piece.endswith("[") and "]" in answer for piece in pieces)


@pytest.mark.parametrize("written", ["It is prose [1].", "[1, 2]", '{"answer": 4}', '{"other": "x"}', "{", ""])
def test_what_is_no_answer_is_not_shown(written: str) -> None:
    assert stream(written, [1] * len(written)) == []


def test_thoughts_between_tags_and_text_around_the_object_are_not_shown() -> None:
    written = '<think>{"answer": "no"}</think>Sure: {"answer": "Paris [1]", "support": "stated"} Is that all?'
    assert "".join(stream(written, [3] * len(written))) == "Paris [1]"


@given(answer=st.text(), lengths=st.lists(st.integers(1, 5), max_size=30), ascii=st.booleans())
def test_any_answer_in_any_pieces(answer: str, lengths: list[int], ascii: bool) -> None:
    plain = answer.replace("[", "(").replace("]", ")")
    written = json.dumps({"answer": plain}, ensure_ascii=ascii)
    assert "".join(stream(written, lengths)) == plain.rstrip()


def test_what_is_written_of_an_answer_can_be_read() -> None:
    assert read_partial_answer('{"thoughts": "a", "answer": "Viking Pr') == "Viking Pr"
