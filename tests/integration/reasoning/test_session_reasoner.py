"""What is common to the strategies: ends before the end, plans that are told again, last words in any dress."""

from dataclasses import replace

import pytest

from core.events import TokenEvent
from core.trace import Budget
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
    if call.role in {"plan_dag", "settle_or_plan"}:
        return planned(call, SIDES)
    if call.role == "conclude":
        return Reply.json({"answer": "the Ebro [2]", "support": "stated", "unstated": ""})
    number = 1 + call.labels["passages"].split().index("oder" if "Oder" in call.question else "ebro")
    if call.role == "answer_step":
        cited = [{"passage": number, "quote": length(call)}]
        return Reply.json({"answers": [length(call)], "support": "stated", "citations": cited})
    return Reply.json({"answer": length(call), "support": "stated", "citations": [number]})


def planned(call: Call, nodes: list[dict[str, str]]) -> Reply:
    return Reply.json({"nodes": nodes} if call.role == "plan_dag" else {"settled": False, "steps": nodes})


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

    def respond(call: Call) -> Reply:
        if call.role in {"plan_dag", "settle_or_plan"}:
            return planned(call, nodes)
        return replace(compared(call), until=lambda: len(server.calls) == 3)

    server.respond = respond
    desk.hits["rhine"] = hit("rhine", "Rhine", "The Rhine is a river. It is long.")
    answer, trace = await desk.ask(strategy, LONGER, budget=Budget(calls=3))
    assert len(server.calls) == 3
    assert not server.hung_up
    assert {step.id for step in answer.steps} - {"Q0.1"} == {"Q1.1", "Q1.2"}
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
            return Reply.json({"answer": "perhaps 700 km", "support": "none", "citations": []})
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


async def test_only_passages_that_were_shown_are_cited_on_the_way(server: ChatServer, desk: ReasoningDesk) -> None:
    """Also where some were left out, since the model cannot read them all."""
    server.respond = lambda _: Reply.json({"answer": "854 km [2]", "support": "stated"})
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
