"""What is counted of the calls that passed between Hopweave and an endpoint."""

from typing import Any

import pytest

from tests.benchmarks.model_calls import report


def call(question: str, prompt: str, *, text: str = "{}", status: int = 200, structured: bool = True) -> dict[str, Any]:
    return {
        "role": "answer",
        "question": question,
        "status": status,
        "structured": structured,
        "messages": [{"role": "user", "content": prompt}],
        "text": text,
    }


def test_a_repair_counts_against_the_first_try_and_a_refusal_does_not() -> None:
    calls = [call("A?", "one", status=400), call("A?", "one"), call("A?", "two", structured=False), call("B?", "three")]
    assert report(calls, {"A?", "B?"})["first_try"] == 1
    repair = call("A?", "Your answer could not be read: answer: Field required.")
    counted = report([*calls[:2], repair, *calls[2:]], {"A?", "B?"})
    assert counted["first_try"] == 0.5
    assert (counted["questions"], counted["calls"], counted["refused"], counted["later_calls"]) == (2, 4, 1, 2)


def test_a_later_call_reuses_what_it_begins_with_as_the_call_before_it() -> None:
    begun = "<user>" + 74 * "p"
    same, other = [call("A?", begun[6:] + end) for end in ("one", 80 * "x")]
    counted = report([call("A?", begun[6:]), other, call("B?", "of another question"), same], {"A?", "B?"})
    assert counted["later_calls"] == 1
    assert counted["reused"] == pytest.approx(80 / 160)
    step = call("a step of A", begun[6:])
    assert report([call("A?", begun[6:]), step], {"A?"})["reused"] == 1
