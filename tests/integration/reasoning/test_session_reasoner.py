"""What is common to the strategies: ends before the end, plans that are told again, last words in any dress."""

from dataclasses import replace

import pytest

from cli.output.plan_state import PlanState
from core.budget import Budget
from core.events import PlanEvent, TokenEvent
from tests.integration.reasoning.good_model import LAST, good_model
from tests.reasoning_desk import ReasoningDesk, hit
from tests.twins.chat_server import Call, ChatServer, Reply

DOCUMENTS = {
    "oder": ("Oder", "The Oder is a river. It is 854 km long."),
    "ebro": ("Ebro", "The Ebro is a river. It is 930 km long."),
}
LONGER = "Which river is longer, the Oder or the Ebro?"
SIDES = [{"id": "Q1.1", "question": "How long is the Oder?"}, {"id": "Q1.2", "question": "How long is the Ebro?"}]


@pytest.fixture
def desk(server: ChatServer) -> ReasoningDesk:
    return ReasoningDesk(server, DOCUMENTS)


def length(call: Call) -> str:
    return "854 km" if "Oder" in call.question else "930 km"


def compared(call: Call) -> Reply:
    """Two sides, each answered from its passage."""
    plan = {"question": LONGER, "needs_retrieval": True, "steps": SIDES, "intents": [], "nodes": SIDES}
    if call.role.startswith("plan"):
        return Reply.json(plan if call.role == "plan_auto" else {"nodes": SIDES})
    if call.role == "conclude":
        return Reply(text="the Ebro [2]")
    number = 1 + call.labels["passages"].split().index("oder" if "Oder" in call.question else "ebro")
    cited = [{"passage": number, "quote": length(call)}] if call.role == "answer_node" else [number]
    return Reply.json({"sufficient": True, "answer": length(call), "citations": cited})


@pytest.mark.parametrize("strategy", ["auto", "plan_star"])
async def test_one_side_of_a_comparison_is_no_answer_when_the_budget_ends(
    server: ChatServer, desk: ReasoningDesk, strategy: str
) -> None:
    server.respond = compared
    answer, trace = await desk.ask(strategy, LONGER, budget=Budget(calls=3))
    assert answer.abstained
    assert "854 km" in answer.text
    assert "930 km" in answer.text
    (note,) = [note for note in trace.notes if "budget" in note]
    assert "left out: the last call" in note


@pytest.mark.parametrize("strategy", ["auto", "plan_star", "plan_star:schedule=ready"])
async def test_what_is_under_way_when_the_budget_ends_is_not_thrown_away(
    server: ChatServer, desk: ReasoningDesk, strategy: str
) -> None:
    third = {"id": "Q1.3", "question": "How long is the Rhine?"}
    last = {"id": "Q2.1", "question": "Which is longer, <A1.1> or <A1.3>?"}
    nodes = [*SIDES, third, last]
    plan = {"question": LONGER, "needs_retrieval": True, "steps": nodes, "intents": []}

    def respond(call: Call) -> Reply:
        if call.role.startswith("plan"):
            return Reply.json(plan if call.role == "plan_auto" else {"nodes": nodes})
        return replace(compared(call), until=lambda: len(server.calls) == 3)

    server.respond = respond
    desk.hits["rhine"] = hit("rhine", "Rhine", "The Rhine is a river. It is long.")
    answer, trace = await desk.ask(strategy, LONGER, budget=Budget(calls=3))
    assert len(server.calls) == 3
    assert not server.hung_up
    assert {step.id for step in answer.steps} == {"Q1.1", "Q1.2"}
    assert "854 km" in answer.text
    assert "930 km" in answer.text
    (note,) = [note for note in trace.notes if "budget" in note]
    assert "left out: step Q1.3 ('How long is the Rhine?'), step Q2.1" in note


@pytest.mark.parametrize("status", ["PASS", "UNCONFIDENT"])
async def test_what_was_said_though_the_passages_do_not_hold_it_is_no_answer(
    server: ChatServer, desk: ReasoningDesk, status: str
) -> None:
    """A step that was not answered is told to later calls as such, whatever the model wrote beside it."""
    good = good_model("854 km", "How long is the Oder?")

    def respond(call: Call) -> Reply:
        if call.role == "answer":
            return Reply.json({"sufficient": False, "answer": "perhaps 700 km", "citations": []})
        if call.role == "review":
            return Reply.json({"status": status, "question": "How long is it?"})
        return good(call)

    server.respond = respond
    answer, _ = await desk.ask("par", "How long is the Oder?")
    assert [step.answer for step in answer.steps] == [""]
    last = server.calls[-1]
    assert last.role == "conclude"
    assert "Answer: (not found)" in last.text
    assert "700" not in last.text


async def test_a_mended_plan_tells_only_of_steps_that_are_to_be_taken(server: ChatServer, desk: ReasoningDesk) -> None:
    """A client that draws the plan would wait for steps that nobody takes again."""

    def respond(call: Call) -> Reply:
        if call.role == "plan_auto":
            second = SIDES[1] if "An earlier plan failed" in call.text else {"id": "Q1.2", "question": "Which sea?"}
            return Reply.json({"question": LONGER, "needs_retrieval": True, "steps": [SIDES[0], second], "intents": []})
        if "sea" in call.question:
            return Reply.json({"sufficient": False, "answer": "", "citations": []})
        return compared(call)

    server.respond = respond
    state = PlanState()
    answer, trace = await desk.ask("auto:review=false", LONGER, listeners=[state.listen])
    assert answer.plain == "the Ebro"
    plans = [[step.id for step in event.steps] for event in trace.events if isinstance(event, PlanEvent)]
    assert plans == [["Q1.1", "Q1.2"], ["Q1.2"]]
    assert {id: step.state for id, step in state.steps.items()} == {"Q1.1": "done", "Q1.2": "done"}


@pytest.mark.parametrize(
    "last",
    [
        "So it is.\nAnswer: 854 km [1]",
        "The river is long.\n**Answer:** 854 km [1]",
        "**Answer**: 854 km [1]",
        "Final answer: 854 km [1]",
        "Answer: 800?\nNo, that is the other.\nThe final answer: 854 km [1]",
    ],
)
async def test_the_answer_is_what_follows_the_last_answer(server: ChatServer, desk: ReasoningDesk, last: str) -> None:
    server.respond = lambda _: Reply(text=last)
    answer, _ = await desk.ask("cot", "How long is the Oder?")
    assert answer.text == "854 km [1]"


async def test_only_passages_that_were_shown_are_cited_on_the_way(server: ChatServer, desk: ReasoningDesk) -> None:
    """Also where some were left out, since the model cannot read them all."""
    server.respond = lambda _: Reply(text="854 km [2]")
    whole, _ = await desk.ask("vanilla", LONGER)
    assert [citation.marker for citation in whole.citations] == [1]
    server.context_tokens = server.calls[-1].prompt_tokens - 1
    cut, trace = await desk.ask("vanilla", LONGER)
    assert cut.text == "854 km"
    assert "".join(event.text for event in trace.events if isinstance(event, TokenEvent)) == "854 km"
    assert any("the last 1 of 2 were left out" in note for note in trace.notes)


@pytest.mark.parametrize("strategy", [name for name in LAST if name != "direct"])
@pytest.mark.parametrize("calls", [1, 2])
async def test_a_budget_of_calls_is_never_passed(server: ChatServer, strategy: str, calls: int) -> None:
    question = "How long is the Oder?"
    server.respond = good_model("854 km", question)
    answer, trace = await ReasoningDesk(server, DOCUMENTS).ask(strategy, question, budget=Budget(calls=calls))
    assert len(server.calls) <= calls
    if "budget" in "".join(trace.notes):
        assert any("left out: " in note for note in trace.notes)
        assert trace.usage.calls == calls
    else:
        assert answer.plain == "854 km"
