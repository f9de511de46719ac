"""Two rankings as one, and the evidence of two searches as one."""

from core.ports.retrieval import Fact
from reasoning.actions.judging.review import Evidence
from reasoning.engine.facts import format_facts
from reasoning.shared.fine_evidence import add_evidence, interleave
from tests.reasoning_desk import hit

A, B, C, D, E, F = (hit(key, key, key) for key in "abcdef")


def fact(key: str, predicate: str = "is") -> Fact:
    return Fact(key, predicate, "here", f"{key}#0")


def test_rankings_take_turns_and_each_chunk_comes_once():
    assert interleave(([A, B, C], [B, D]), 10) == (A, B, D, C)
    assert interleave(([A, B, C], [B, D]), 3) == (A, B, D)
    assert interleave(([], [D, C]), 10) == (D, C)
    assert interleave(([], []), 10) == ()


def test_cited_passages_come_first_then_both_searches_in_turn():
    earlier, later = Evidence(hits=(A, B, C)), Evidence(hits=(D, E))
    assert add_evidence(earlier, later, [C], 10).hits == (C, A, D, B, E)
    assert add_evidence(earlier, later, [C], 3).hits == (C, A, D)
    assert add_evidence(Evidence(), later, [F], 10, asked="Why?") == Evidence(hits=(F, D, E), asked="Why?")
    assert add_evidence(Evidence(), Evidence(), [], 10) == Evidence()


def test_facts_are_those_of_the_passages_that_are_kept_the_later_first_and_each_once():
    earlier = Evidence(hits=(A, B), facts=(fact("a"), fact("b")))
    later = Evidence(hits=(C, B), facts=(fact("c"), fact("b")))
    assert add_evidence(earlier, later, [], 3).facts == (fact("c"), fact("b"), fact("a"))
    assert add_evidence(earlier, later, [], 2).facts == (fact("c"), fact("a"))
    many = Evidence(hits=(A,), facts=tuple(fact("a", str(number)) for number in range(30)))
    assert len(add_evidence(Evidence(), many, [], 3).facts) == 10


def test_facts_are_told_by_the_numbers_of_their_passages():
    assert format_facts([fact("b", "lies\nin")] * 2, [A, B]) == (
        "Facts drawn from the passages, by their numbers:\n<facts>\n[2] b — lies in — here\n</facts>"
    )
    assert format_facts([fact("c")], [A, B]) == ""
    assert format_facts([], [A]) == ""
