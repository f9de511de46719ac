"""The steps of a plan of `auto`: what each is told, in which order they run, and how values are handed on."""

from dataclasses import replace

from core.ports.reasoning import Support
from tests.integration.reasoning.auto.replies import CHAIN, FISH, WHO, answer_step, concluded, plan, step
from tests.integration.reasoning.good_model import roles
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer, Reply


async def test_a_step_is_told_the_whole_question_and_what_is_known(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(*CHAIN))
    server.respond = answer_step
    await desk.ask("auto", FISH)
    child = server.calls[2].text
    assert FISH in child
    assert "Answer: S. E. Hinton" in child
    assert "Quote from Rumble Fish: a novel by S. E. Hinton" in child


async def test_a_known_step_without_a_passage_is_asked_all_the_same(server: ChatServer, desk: ReasoningDesk) -> None:
    known = {"Q1.1": {"answer": "S. E. Hinton", "citations": [{"passage": 99, "quote": "x"}]}}
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO), known=known))
    server.respond = answer_step
    answer, trace = await desk.ask("auto", FISH)
    assert roles(server) == ["settle_or_plan", "answer_step"]
    assert answer.plain == "S. E. Hinton"
    assert any("citation [99] of step Q1.1 was dropped" in note for note in trace.notes)


async def test_independent_nodes_run_side_by_side(server: ChatServer, desk: ReasoningDesk) -> None:
    width = 5
    server.scripts["settle_or_plan"].append(
        plan(*((f"Q1.{n}", f"How long is river {n}?") for n in range(1, width + 1)))
    )
    server.scripts["conclude"].append(concluded("long [1]"))
    node = step("long", cited=[{"passage": 1, "quote": "It is"}])
    server.respond = lambda call: replace(node, until=lambda: server.most_in_flight >= width)  # noqa: ARG005
    await desk.ask("auto", "How long are the rivers?")
    assert server.most_in_flight >= width


async def test_an_inferred_answer_is_carried_on_and_marked(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(*CHAIN[:2]))
    inferred = {"support": "inferred", "unstated": "that the novel is meant"}
    server.respond = lambda call: (
        concluded("The Outsiders [1]", "inferred", "that the novel is meant")
        if call.role == "conclude"
        else step("S. E. Hinton", cited=[{"passage": 1, "quote": ""}], **inferred)
        if call.question == WHO
        else answer_step(call)
    )
    answer, _ = await desk.ask("auto:more=0", FISH)
    child = next(call for call in server.calls if call.question.startswith("Which coming"))
    assert "Answer: S. E. Hinton (inferred; not stated: that the novel is meant)" in child.text
    assert roles(server)[-1] == "conclude"
    assert answer.support is Support.INFERRED


async def test_no_question_with_a_hole_is_asked(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(*CHAIN))
    server.respond = lambda call: (
        concluded("1967 [1]", "inferred") if call.role == "conclude" else step(support="none", query="author")
    )
    answer, _ = await desk.ask("auto", FISH)
    assert roles(server)[0::2][:1] == ["settle_or_plan"]
    assert {call.question for call in server.calls if call.role == "answer_step"} == {WHO}
    assert not [query for query in desk.queries if "<A" in query or "(Who" in query]
    last = server.calls[-1].text
    assert f"Question: Which coming-of-age novel did (unknown: {WHO}) write? (not asked)" in last
    assert "<A" not in last
    assert answer.plain == "1967"


async def test_a_step_of_several_values_is_asked_for_each(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", "Which is a river?"), ("Q2.1", "How long is the <A1.1>?")))
    server.respond = lambda call: (
        concluded("854 km [1]; 930 km [2]")
        if call.role == "conclude"
        else step("Oder", "Ebro", cited=[{"passage": 1, "quote": ""}])
        if call.question == "Which is a river?"
        else answer_step(call)
    )
    answer, _ = await desk.ask("auto", "How long are the rivers?")
    assert sorted(desk.queries[2:]) == ["How long is the Ebro?", "How long is the Oder?"]
    assert {one.id for one in answer.steps} == {"Q0.1", "Q1.1", "Q2.1", "Q2.1/2", "answer"}
    assert "Question: How long is the Oder?\nAnswer: 854 km" in server.calls[-1].text
    assert answer.plain == "854 km; 930 km"


async def test_no_more_values_than_the_option_says(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", "Which is a river?"), ("Q2.1", "How long is the <A1.1>?")))
    server.respond = lambda call: (
        concluded("854 km [1]")
        if call.role == "conclude"
        else step("Oder", "Ebro", cited=[{"passage": 1, "quote": ""}])
        if call.question == "Which is a river?"
        else answer_step(call)
    )
    await desk.ask("auto:values=1", "How long are the rivers?")
    assert desk.queries[2:] == ["How long is the Oder?"]


async def test_many_parents_of_many_values_cost_no_more_than_few(server: ChatServer, desk: ReasoningDesk) -> None:
    """All combinations would be 20 to the power of 8."""
    parents = [(f"Q1.{n}", f"Which is river {n}?") for n in range(1, 9)]
    tags = " ".join(f"<A1.{n}>" for n in range(1, 9))
    server.scripts["settle_or_plan"].append(plan(*parents, ("Q2.1", f"How long: {tags}?")))
    values = [f"river {n}" for n in range(20)]
    server.respond = lambda call: (
        concluded("854 km [1]") if call.role == "conclude" else step(*values, cited=[{"passage": 1, "quote": ""}])
    )
    answer, _ = await desk.ask("auto:values=2", "How long is each river?")
    assert {one.id for one in answer.steps if one.id.startswith("Q2.1")} == {"Q2.1", "Q2.1/2"}


async def test_a_step_that_cannot_be_read_counts_as_not_found(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO)))
    server.respond = lambda call: concluded("1967 [1]", "inferred") if call.role == "conclude" else Reply(text="hm")
    answer, trace = await desk.ask("auto:more=0", FISH)
    assert answer.plain == "1967"
    assert any("step Q1.1 was not answered" in note for note in trace.notes)
