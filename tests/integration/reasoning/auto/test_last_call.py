"""The last call of `auto`: when it is made, and what its support does to the answer."""

import pytest

from core.ports.reasoning import Support, Unsupported
from tests.integration.reasoning.auto.replies import CHAIN, FISH, WHO, answer_step, concluded, plan, step
from tests.integration.reasoning.good_model import roles
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer, Reply


async def test_a_comparison_is_concluded_from_both_sides(server: ChatServer, desk: ReasoningDesk) -> None:
    sides = (("Q1.1", "How long is the Oder?"), ("Q1.2", "How long is the Ebro?"))
    server.scripts["settle_or_plan"].append(plan(*sides))
    server.respond = lambda call: concluded("The Ebro [2]") if call.role == "conclude" else answer_step(call)
    answer, _ = await desk.ask("auto", "Which is longer, the Oder or the Ebro?")
    last = server.calls[-1]
    assert "Answer: 854 km [1]" in last.text
    assert "Answer: 930 km [2]" in last.text
    assert last.labels["passages"].split()[:2] == ["oder", "ebro"]
    assert answer.text == "The Ebro [1]"
    assert answer.citations[0].document.key == "ebro"
    assert answer.steps[-1].id == "answer"


async def test_the_last_call_may_contradict_the_first_look(server: ChatServer, desk: ReasoningDesk) -> None:
    known = {"Q1.1": {"answer": "Rumble Fish", "citations": [{"passage": 1, "quote": ""}]}}
    server.scripts["settle_or_plan"].append(plan(*CHAIN[:2], known=known))
    server.respond = lambda call: (
        concluded("The Outsiders [2]") if call.role == "conclude" else step(support="none", query="novel")
    )
    answer, _ = await desk.ask("auto", FISH)
    assert answer.plain == "The Outsiders"
    assert answer.steps[1].answer == "Rumble Fish"


async def test_an_empty_last_call_gives_way_to_the_last_step(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO)))
    server.respond = lambda call: (
        concluded("", "none")
        if call.role == "conclude"
        else step("S. E. Hinton", support="inferred", cited=[{"passage": 1, "quote": ""}])
    )
    answer, _ = await desk.ask("auto:more=0", "the author of Rumble Fish?")
    assert answer.plain == "S. E. Hinton"
    assert answer.support is Support.INFERRED


async def test_nothing_found_is_an_abstention(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", "Who founded xyzzy?")))
    server.respond = lambda call: (
        concluded("", "none", "who founded it") if call.role == "conclude" else step(support="none")
    )
    answer, _ = await desk.ask("auto", "Who founded xyzzy, and when?")
    assert answer.abstained
    assert answer.support is Support.NONE
    assert answer.note == "Not stated: who founded it."
    assert not answer.citations


async def test_instructions_are_followed_by_a_last_call(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO)))
    server.respond = lambda call: (
        concluded("It was S. E. Hinton [1].") if call.role == "conclude" else answer_step(call)
    )
    answer, _ = await desk.ask("auto", "the author of Rumble Fish?", instructions="In a sentence.")
    assert roles(server) == ["settle_or_plan", "answer_step", "conclude"]
    assert all("In a sentence." in call.text for call in server.calls if call.role != "answer_step")
    assert answer.text == "It was S. E. Hinton [1]."


async def test_a_support_that_does_not_exist_counts_as_inferred(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO)))
    server.respond = lambda call: (
        concluded("S. E. Hinton [1]", "very sure")
        if call.role == "conclude"
        else step("S. E. Hinton", support="certain", cited=[{"passage": 1, "quote": ""}])
    )
    answer, trace = await desk.ask("auto:more=0", "the author of Rumble Fish?")
    assert answer.support is Support.INFERRED
    assert sum("does not exist; it counts as 'inferred'" in note for note in trace.notes) == 2


async def test_a_model_that_ignores_every_format_answers_all_the_same(server: ChatServer, desk: ReasoningDesk) -> None:
    server.respond = lambda _: Reply(text="It was 1967 [1].")
    answer, trace = await desk.ask("auto", FISH)
    assert set(roles(server)) == {"settle_or_plan", "conclude"}
    assert answer.text == "It was 1967 [1]."
    assert answer.support is Support.INFERRED
    assert any("what could be read of a malformed reply" in note for note in trace.notes)


@pytest.mark.parametrize("unsupported", list(Unsupported))
async def test_what_is_not_stated_is_given_as_the_request_wants(
    server: ChatServer, desk: ReasoningDesk, unsupported: Unsupported
) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO)))
    server.respond = lambda call: (
        concluded("S. E. Hinton", "memory", "all of it") if call.role == "conclude" else step(support="none")
    )
    answer, _ = await desk.ask("auto:more=0", "the author of Rumble Fish?", unsupported=unsupported)
    assert answer.abstained is (unsupported is not Unsupported.MEMORY)
    assert answer.support is (Support.MEMORY if unsupported is Unsupported.MEMORY else Support.NONE)
    asked = server.calls[1]
    assert ('"memory" if' in asked.text) is (unsupported is Unsupported.MEMORY)
    offered = asked.body["response_format"]["json_schema"]["schema"]["properties"]["support"]["enum"]
    assert ("memory" in offered) is (unsupported is Unsupported.MEMORY)


async def test_an_inferred_answer_is_withheld_from_who_wants_only_what_is_stated(
    server: ChatServer, desk: ReasoningDesk
) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", WHO)))
    server.respond = lambda call: (
        concluded("S. E. Hinton [1]", "inferred", "that it is hers")
        if call.role == "conclude"
        else step("S. E. Hinton", support="inferred", cited=[{"passage": 1, "quote": ""}])
    )
    told: list[str] = []
    answer, _ = await desk.ask(
        "auto:more=0",
        "the author of Rumble Fish?",
        unsupported=Unsupported.ABSTAIN,
        listeners=[lambda event: told.append(event.kind)],
    )
    assert answer.abstained
    assert "Hinton" not in answer.text
    assert answer.note == "Not stated: that it is hers."
    assert "token" not in told


@pytest.mark.parametrize("unsupported", [Unsupported.INFER, Unsupported.ABSTAIN])
async def test_one_of_several_values_is_not_given_as_stated(
    server: ChatServer, desk: ReasoningDesk, unsupported: Unsupported
) -> None:
    """Each value has a stated answer, but which of them is meant is open."""
    server.scripts["settle_or_plan"].append(plan(("Q1.1", "Which is a river?"), ("Q2.1", "How long is the <A1.1>?")))
    server.respond = lambda call: (
        concluded("", "none")
        if call.role == "conclude"
        else step("Oder", "Ebro", cited=[{"passage": 1, "quote": ""}])
        if call.question == "Which is a river?"
        else answer_step(call)
    )
    answer, _ = await desk.ask("auto", "How long is the river?", unsupported=unsupported)
    if unsupported is Unsupported.ABSTAIN:
        assert answer.abstained
        assert "km" not in answer.text
    else:
        assert (answer.plain, answer.support) == ("854 km; 930 km", Support.INFERRED)
        assert {citation.document.key for citation in answer.citations} == {"oder", "ebro"}


async def test_values_of_which_one_is_from_memory_cite_nothing(server: ChatServer, desk: ReasoningDesk) -> None:
    server.scripts["settle_or_plan"].append(plan(("Q1.1", "Which is a river?"), ("Q2.1", "How long is the <A1.1>?")))
    server.respond = lambda call: (
        concluded("", "none")
        if call.role == "conclude"
        else step("Oder", "Ebro", cited=[{"passage": 1, "quote": ""}])
        if call.question == "Which is a river?"
        else step("930 km", support="memory")
        if "Ebro" in call.question
        else answer_step(call)
    )
    answer, _ = await desk.ask("auto:more=0", "How long is the river?", unsupported=Unsupported.MEMORY)
    assert (answer.text, answer.support, answer.citations) == ("854 km; 930 km", Support.MEMORY, ())
