"""Plans as graphs: what is read from them, and which of them are refused."""

from collections.abc import Iterable

import pytest

from reasoning.plans.dag import (
    MalformedPlan,
    PlannedNode,
    check_plan,
    compute_depths,
    find_descendants,
    find_sinks,
    parse_dag,
    parse_tags,
    select_ready,
    split_layers,
    strip_tags,
)

DIAMOND = [("Q1.1", "x?"), ("Q2.1", "y of <A1.1>?"), ("Q2.2", "z of A1.1?"), ("Q3.1", "<A2.1> or <A2.2>?")]


def parsed(written: Iterable[tuple[str, str]], words: str = "") -> tuple[PlannedNode, ...]:
    return parse_dag(written, max_nodes=12, max_depth=6, words=words)


def test_parents_are_what_the_tags_name_and_nodes_come_in_order():
    nodes = parsed(reversed(DIAMOND))
    assert [node.id for node in nodes] == ["Q1.1", "Q2.1", "Q2.2", "Q3.1"]
    assert [node.parents for node in nodes] == [(), ("Q1.1",), ("Q1.1",), ("Q2.1", "Q2.2")]
    assert [[node.id for node in layer] for layer in split_layers(nodes)] == [["Q1.1"], ["Q2.1", "Q2.2"], ["Q3.1"]]


def test_a_plan_of_depth_0_is_one_node():
    assert parsed([("Q0.1", "who?")]) == (PlannedNode(id="Q0.1", question="who?"),)


def test_what_graphs_are_asked():
    nodes = parsed([*DIAMOND, ("Q1.2", "apart?")])
    assert compute_depths(nodes) == {"Q1.1": 0, "Q1.2": 0, "Q2.1": 1, "Q2.2": 1, "Q3.1": 2}
    assert [node.id for node in find_sinks(nodes)] == ["Q1.2", "Q3.1"]
    assert find_descendants(nodes, "Q1.1") == {"Q2.1", "Q2.2", "Q3.1"}
    assert find_descendants(nodes, "Q3.1") == frozenset()
    assert [node.id for node in select_ready(nodes, {"Q1.1"})] == ["Q1.1", "Q1.2", "Q2.1", "Q2.2"]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("the year <A2.1> was published", ("Q2.1",)),
        ("the year A2.1 was published", ("Q2.1",)),
        ("is < A1.1 > older than A1.2?", ("Q1.1", "Q1.2")),
        ("<Q1.1>'s mother and <A1.1>'s father", ("Q1.1",)),
        ("A1.1, A01.1.", ("Q1.1",)),
        ("DNA1.1, A1.1.3 and A1.1b are words", ()),
        ("no tag", ()),
    ],
)
def test_tags(question: str, found: tuple[str, ...]):
    assert parse_tags(question) == found


def test_an_answer_brings_in_no_tag():
    assert strip_tags("see < A1.1 > and <Q2.1>, A3.1, a<b") == "see A1.1 and Q2.1, A3.1, a<b"


def test_what_only_looks_like_a_tag_and_stands_in_the_question_is_a_word():
    question = "How long does German level A1.1 take?"
    assert parsed([("Q0.1", question)], words=question)[0].parents == ()
    with pytest.raises(MalformedPlan, match=r"<A1\.1> in Q0\.1 names no node"):
        parsed([("Q0.1", question)])


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ([], "empty"),
        ([("Q1.1", "of <A2.1>?"), ("Q2.1", "of <A1.1>?")], r"<A2\.1> in Q1\.1 must name a node of an earlier depth"),
        ([("Q1.1", "of <A1.1>?")], "earlier depth"),
        ([("Q1.1", "x"), ("Q1.2", "of <A1.1>?")], "earlier depth"),
        ([("Q1.1", "x"), ("Q2.1", "of <A1.7>?")], r"<A1\.7> in Q2\.1 names no node"),
        ([("Q1.1", "x"), ("Q1.1", "y")], "more than once"),
        ([("Q1.1", "  ")], "no question"),
        ([("first", "x")], "'first' is no id"),
        ([("Q7.1", "x")], "deeper than 6"),
        ([(f"Q1.{n}", "x") for n in range(40)], "40 nodes; at most 12"),
    ],
)
def test_plans_that_are_refused(written: list[tuple[str, str]], why: str):
    with pytest.raises(MalformedPlan, match=why):
        parsed(written)


def test_nodes_with_other_ids_are_checked_too():
    def node(id: str, *parents: str) -> PlannedNode:
        return PlannedNode(id=id, question="?", parents=parents)

    assert check_plan([node("b", "a"), node("a")], max_nodes=2)[0].id == "b"
    with pytest.raises(MalformedPlan, match="a cycle among b, c"):
        check_plan([node("a"), node("b", "c"), node("c", "b")], max_nodes=3)
    with pytest.raises(MalformedPlan, match="needs the answer of z"):
        check_plan([node("a", "z")], max_nodes=3)
