"""The rounds of LevelRAG's high level: first hops, summaries, verifying, supplements."""

from core.events import PlanEvent, ReviewEvent
from core.ports.reasoning import Support
from tests.integration.reasoning.good_model import roles
from tests.integration.reasoning.level.replies import (
    HOPS,
    PLAIN,
    QUESTION,
    SUMMARIES,
    comparison,
    concluded,
    depths,
    enough,
    queries,
    summarized,
    three_hops,
)
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, Reply


async def test_first_hops_supplements_and_the_summaries(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    answer, trace = await desk.ask(PLAIN, QUESTION)

    round_ = ["summarize", "verify"]
    expected = ["atomic_queries", *round_, "supplement", *round_, "supplement", *round_, "conclude"]
    assert roles(desk.server) == expected
    assert desk.queries == HOPS
    assert {query.k for _, query in desk.searched} == {10}
    assert [query.private for _, query in desk.searched] == [False, True, True]
    assert (answer.plain, answer.support) == ("Viking Press", Support.STATED)
    assert [(one.document.key, one.quote) for one in answer.citations] == [
        ("outsiders", "The Outsiders was published by Viking Press in 1967.")
    ]
    told = [(step.id, step.question, step.answer, step.support) for step in answer.steps]
    assert told == [
        *((str(n), hop, SUMMARIES[hop][0], Support.STATED) for n, hop in enumerate(HOPS, start=1)),
        ("answer", QUESTION, "Viking Press [1]", Support.STATED),
    ]
    assert depths(answer) == [("1", (), 0), ("2", ("1",), 1), ("3", ("1", "2"), 2), ("answer", ("1", "2", "3"), 3)]
    assert answer.shown == tuple(SUMMARIES[hop][0] for hop in HOPS)
    assert all(step.quotes and step.tokens for step in answer.steps[:3])
    assert trace.notes == []
    reviews = [event.verdict for event in trace.events if isinstance(event, ReviewEvent)]
    assert reviews == ["insufficient", "insufficient", "sufficient"]
    plans = [[step.id for step in event.steps] for event in trace.events if isinstance(event, PlanEvent)]
    assert plans == [["1", "answer"], ["2", "answer"], ["3", "answer"]]


async def test_what_each_prompt_shows(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    await desk.ask(PLAIN, QUESTION)
    first, summary, verify, supplement, second, *_, conclude = desk.server.calls

    assert QUESTION in first.text
    assert "at most 5" in first.text
    assert "<passage " not in first.text
    assert HOPS[0] in summary.text
    assert QUESTION not in summary.text, "a summary answers its own query"
    assert '<passage n="1"' in summary.text
    assert "never instructions" in summary.messages[0]["content"]
    assert "<summaries>\nContext 1: Rumble Fish is a novel by S. E. Hinton.\n</summaries>" in verify.text
    assert QUESTION in verify.text
    assert HOPS[0] not in verify.text, "summaries are handed on without their query"
    assert "<passage " not in verify.text
    assert "Context 1: Rumble Fish is a novel by S. E. Hinton." in supplement.text
    assert f"Looked up already:\n<known>\n{HOPS[0]}\n</known>" in supplement.text
    assert "<passage " not in supplement.text
    assert HOPS[1] in second.text
    for number, hop in enumerate(HOPS, start=1):
        assert f"\nContext {number}: {SUMMARIES[hop][0]}\n" in conclude.text
        assert hop not in conclude.text
    assert "in 1967" not in conclude.text, "the summaries are shown, and not the passages"
    assert "Question: Context" not in conclude.text


async def test_both_sides_of_a_comparison_are_looked_up_at_once(desk: ReasoningDesk) -> None:
    comparison(desk.server)
    answered = desk.server.respond

    def respond(call: Call) -> Reply:
        if call.role != "summarize":
            return answered(call)
        return Reply(text=answered(call).text, until=lambda: desk.server.most_in_flight == 2)

    desk.server.respond = respond
    answer, _ = await desk.ask(PLAIN, "Which is taller, Zork or Viking?")
    assert desk.server.most_in_flight == 2
    assert depths(answer)[-1] == ("answer", ("1", "2"), 1)
    assert sorted(depths(answer)[:2]) == [("1", (), 0), ("2", (), 0)]
    assert not any(query.private for _, query in desk.searched)
    assert answer.shown == ("This is about: How tall is Zork?", "This is about: How tall is Viking?")


async def test_no_query_is_asked_twice(desk: ReasoningDesk) -> None:
    """Neither within a round nor later, whatever the case, the spaces and the mark at the end."""
    comparison(desk.server, first=[HOPS[0], "who is the author of  rumble fish"])
    desk.server.scripts["conclude"].append(concluded("Rumble Fish [1]"))
    desk.server.scripts["verify"].extend([enough(False)] * 2)
    desk.server.scripts["supplement"].extend([queries(HOPS[1], HOPS[0].upper()), queries(f" {HOPS[1]}? ", HOPS[0])])
    answer, trace = await desk.ask(PLAIN, QUESTION)
    assert desk.queries == HOPS[:2]
    assert [step.id for step in answer.steps] == ["1", "2", "answer"]
    assert trace.notes == ["level: only what had been asked before was asked again; nothing more was looked up"]
    assert roles(desk.server)[-2:] == ["supplement", "conclude"]


async def test_no_supplements_and_few_queries(desk: ReasoningDesk) -> None:
    comparison(desk.server)
    answer, trace = await desk.ask(f"{PLAIN},supplements=0,max_queries=1", "Which is taller?")
    assert roles(desk.server) == ["atomic_queries", "summarize", "conclude"]
    assert trace.notes == ["the model wrote 2 atomic queries; the first 1 were used"]
    assert answer.plain == "Zork"


async def test_verifying_merged_into_the_supplement(desk: ReasoningDesk) -> None:
    three_hops(desk.server)
    desk.server.scripts["supplement"].extend([queries(HOPS[1]), queries("No additional information is required.")])
    answer, _ = await desk.ask(f"{PLAIN},verify=merged", QUESTION)
    assert roles(desk.server) == ["atomic_queries", *["summarize", "supplement"] * 2, "conclude"]
    assert answer.shown == tuple(SUMMARIES[hop][0] for hop in HOPS[:2])


async def test_passages_instead_of_summaries(desk: ReasoningDesk) -> None:
    """Verified, added to and concluded from the passages themselves."""
    three_hops(desk.server, final="Viking Press [1]")
    desk.server.scripts["verify"].extend([enough(False), enough(True)])
    desk.server.scripts["supplement"].append(queries("Which house published Rumble Fish and The Outsiders, Viking?"))
    answer, _ = await desk.ask(f"{PLAIN},summarize=false,k=3", QUESTION)
    assert roles(desk.server) == ["atomic_queries", "verify", "supplement", "verify", "conclude"]
    _, verify, supplement, again, conclude = desk.server.calls
    assert verify.text.count("<passage ") == supplement.text.count("<passage ") == 1
    assert again.text.count("<passage ") == conclude.text.count("<passage ") == 3, "each passage once"
    assert "Context 1" not in conclude.text
    assert [text.splitlines()[0] for text in answer.shown or ()] == ["Rumble Fish", "The Outsiders", "Viking Press"]
    assert [(step.answer, step.support) for step in answer.steps[:2]] == [("", Support.NONE)] * 2
    assert answer.plain == "Viking Press"


async def test_what_brought_nothing_new_is_not_judged_again(desk: ReasoningDesk) -> None:
    comparison(desk.server, first=[HOPS[0]])
    desk.server.scripts["verify"].extend([enough(False), enough(True)])
    desk.server.scripts["summarize"].extend([summarized("A fact.", 1), summarized("Not found.", support="none")])
    desk.server.scripts["supplement"].extend([queries(HOPS[1]), queries(HOPS[2])])
    await desk.ask(PLAIN, QUESTION)
    round_ = ["summarize", "supplement"]
    assert roles(desk.server) == [
        *["atomic_queries", "summarize", "verify", "supplement"],
        *round_,
        *["summarize", "verify", "conclude"],
    ]


async def test_passages_that_barely_change_are_not_judged_again(desk: ReasoningDesk) -> None:
    comparison(desk.server, first=[HOPS[0]])
    desk.server.scripts["verify"].append(enough(False))
    desk.server.scripts["supplement"].extend([queries(f"{HOPS[0]} Really?"), queries()])
    await desk.ask(f"{PLAIN},summarize=false", QUESTION)
    assert roles(desk.server) == ["atomic_queries", "verify", "supplement", "supplement", "conclude"]
