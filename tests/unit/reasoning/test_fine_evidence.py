"""Two rankings as one, and the evidence of two searches as one."""

from dataclasses import replace

from core.ports.retrieval import Fact, Hit
from reasoning.actions.judging.judgements import Evidence
from reasoning.engine.calls import format_facts
from reasoning.shared.review_loop import add_evidence, interleave, sort_by_scores
from tests.reasoning_desk import hit

A, B, C, D, E, F = (hit(key, key, key) for key in "abcdef")


def scored(hit: Hit, score: float) -> Hit:
    return replace(hit, score=score)


def fact(key: str, predicate: str = "is") -> Fact:
    return Fact(key, predicate, "here", f"{key}#0")


def test_rankings_take_turns_and_each_chunk_comes_once():
    assert interleave(([A, B, C], [B, D]), 10) == (A, B, D, C)
    assert interleave(([A, B, C], [B, D]), 3) == (A, B, D)
    assert interleave(([], [D, C]), 10) == (D, C)
    assert interleave(([], []), 10) == ()


def test_rankings_are_sorted_by_scores_that_are_scaled_within_each():
    cosines = [scored(A, 0.9), scored(B, 0.8), scored(C, 0.5)]
    masses = [scored(D, 0.04), scored(C, 0.036), scored(E, 0.0)]
    assert [hit.chunk.id for hit in sort_by_scores((cosines, masses), 10)] == ["a#0", "d#0", "c#0", "b#0", "e#0"]
    assert sort_by_scores((cosines, masses), 2) == (cosines[0], masses[0])
    assert sort_by_scores((cosines, masses), 3)[2] == masses[1], "the hit with the better score of the two"


def test_a_ranking_of_equal_scores_is_as_good_as_the_best():
    assert sort_by_scores(([scored(A, 0.2)], [scored(B, 9.0), scored(C, 1.0)]), 10) == (
        *(scored(A, 0.2), scored(B, 9.0), scored(C, 1.0)),
    )
    assert sort_by_scores(([], [scored(D, 1.0)]), 10) == (scored(D, 1.0),)
    assert sort_by_scores(([], []), 10) == ()


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
