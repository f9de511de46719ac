"""The oracle's errors: how many, of which kinds, and that a run can be repeated."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.twins.chat_script import Call
from tests.twins.oracle import GoldHop, Oracle

ASKED = "On which river is the town of Orrin Mill?"
HOPS = (
    GoldHop(question="Where is Orrin Mill?", answer="Orrin", supporting="p1"),
    GoldHop(question="On which river is #1?", answer="Dole", supporting="p2"),
)
PASSAGES = {"p1": "The mill of Tam Reed is in Orrin.", "p2": "Orrin is on the Dole, near Vellby."}
LAST = "On which river is Orrin?"


def call(role: str, question: str, *keys: str, place: int = 0) -> Call:
    """`place` makes calls differ, as further passages do that support nothing."""
    shown = [*keys, *([f"far{place}"] if place else [])]
    passages = [f'<passage n="{n}">\n{PASSAGES.get(key, "nothing")}\n</passage>' for n, key in enumerate(shown, 1)]
    metadata = {"role": role, "question": question, "asked": ASKED, "passages": " ".join(shown)}
    body = {"messages": [{"role": "user", "content": "\n".join(passages)}], "metadata": metadata}
    return Call(number=1, body=body, headers={}, received=0.0)


def replies(oracle: Oracle, role: str = "answer", count: int = 400) -> list[Any]:
    return [json.loads(oracle(call(role, LAST, "p2", place=place)).text) for place in range(1, count + 1)]


def oracle(rate: float = 0.0, seed: int = 0) -> Oracle:
    return Oracle({ASKED: HOPS}, rate, seed)


@pytest.mark.parametrize("role", ["answer", "review", "conclude", "settle_or_plan"])
def test_without_a_rate_no_seed_changes_anything(role: str) -> None:
    assert replies(oracle(), role, 40) == replies(oracle(seed=7), role, 40)
    assert len({json.dumps(reply) for reply in replies(oracle(), role, 40)[1:]}) == 1


@pytest.mark.parametrize("role", ["answer", "answer_step", "review", "conclude", "settle_or_plan"])
def test_the_same_seed_gives_the_same_run_and_another_seed_another(role: str) -> None:
    assert replies(oracle(0.3, 1), role, 60) == replies(oracle(0.3, 1), role, 60)
    assert replies(oracle(0.3, 1), "answer", 60) != replies(oracle(0.3, 2), "answer", 60)


def test_an_error_depends_on_the_call_and_not_on_its_place_in_the_run() -> None:
    one, other = oracle(0.5, 3), oracle(0.5, 3)
    calls = [call("answer", LAST, "p2", place=place) for place in range(1, 30)]
    forwards = [one(each).text for each in calls]
    assert [other(each).text for each in reversed(calls)] == forwards[::-1]


def test_errors_are_as_frequent_as_the_rate_and_of_both_kinds() -> None:
    """Half of them overlook what a passage states, and half take a name from it that is not the answer."""
    found = replies(oracle(0.2))
    answers = Counter(reply["answer"] for reply in found)
    wrong = answers.total() - answers["Dole"]
    assert abs(wrong / answers.total() - 0.2) < 0.05
    assert abs(answers[""] - answers["Vellby"]) < 0.3 * wrong + 5
    supports = {reply["answer"]: reply["support"] for reply in found}
    assert supports == {"Dole": "stated", "": "none", "Vellby": "stated"}


def test_a_review_doubts_or_breaks_what_is_right() -> None:
    faultless, erring = oracle(), oracle(0.5)
    for one in (faultless, erring):
        assert {"Dole"} <= {reply["answer"] for reply in replies(one, count=20)}
    assert {reply["status"] for reply in replies(faultless, "review", 20)} == {"PASS"}
    found = replies(erring, "review", 60)
    assert {reply["status"] for reply in found} == {"PASS", "UNCONFIDENT", "REVISED"}
    assert {reply["answer"] for reply in found if reply["status"] == "REVISED"} <= {"Vellby", "Dole"}
