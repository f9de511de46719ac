"""The second look of `auto`: a step that is not stated is asked once more, with other passages."""

from core.ports.reasoning import Support
from tests.integration.reasoning.auto.replies import CHAIN, WHO, concluded, plan, step
from tests.integration.reasoning.good_model import roles
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer

THIRD = {"passage": 3, "quote": ""}
PAGES = {f"d{n}": (f"Page {n}", f"river page number {n}") for n in range(10, 22)}


async def test_a_step_that_is_not_stated_gets_one_second_look(server: ChatServer) -> None:
    desk = ReasoningDesk(server, PAGES)
    server.script.extend(
        [
            plan(("Q1.1", "river number"), ("Q2.1", "page of <A1.1>")),
            step("number 12", support="inferred", cited=[THIRD], unstated="x", query="page river"),
            step("number 13", cited=[{"passage": 1, "quote": "river page number"}]),
            step("river", cited=[{"passage": 1, "quote": "river page number"}]),
        ]
    )
    answer, _ = await desk.ask("auto:k=3,more=3", "river page")
    first, second = server.calls[1], server.calls[2]
    assert first.labels["passages"] == "d10 d11 d12"
    read = second.labels["passages"].split()
    assert len(read) == 5
    assert not set(read[:3]) & {"d10", "d11", "d12"}
    assert read[3:] == ["d12", "d10"]
    assert "Answer: number 12 (inferred; not stated: x)" in second.text
    assert "The passages above were searched for with:\n<question>\npage river\n</question>" in second.text
    assert "searched for with" not in first.text
    assert desk.queries == ["river page", "river number", "page river", "page of number 13"]
    assert answer.plain == "river"
    assert answer.support is Support.STATED
    assert len(server.calls) == 4


async def test_the_last_call_reads_what_the_goals_second_look_would(server: ChatServer) -> None:
    desk = ReasoningDesk(server, PAGES)
    server.script.extend(
        [
            plan(("Q1.1", "river number")),
            step("number 12", support="inferred", cited=[THIRD], unstated="x", query="page river"),
            concluded("number 12 [1]"),
        ]
    )
    answer, _ = await desk.ask("auto:look=2,k=3,more=3", "river page")
    assert roles(server) == ["settle_or_plan", "answer_step", "conclude"]
    assert server.calls[-1].labels["passages"] == "d12 d10 d11 d13 d14 d15"
    assert desk.queries == ["river page", "river number", "page river"]
    assert answer.support is Support.STATED


async def test_the_better_support_wins(server: ChatServer, desk: ReasoningDesk) -> None:
    server.script.extend(
        [
            plan(*CHAIN[:2]),
            step("S. E. Hinton", support="inferred", cited=[{"passage": 1, "quote": ""}], query="novel author"),
            step(support="none"),
            step("The Outsiders", cited=[{"passage": 1, "quote": ""}]),
            concluded("The Outsiders [1]", "inferred", "who wrote it"),
        ]
    )
    answer, _ = await desk.ask("auto:k=1,more=1", "the novel by the author of Rumble Fish?")
    assert answer.steps[1].answer == "S. E. Hinton"
    assert answer.steps[1].support is Support.INFERRED
    assert answer.support is Support.INFERRED
    assert answer.note == "This answer is inferred; the passages do not state it. Not stated: who wrote it."


async def test_a_second_look_that_finds_nothing_new_is_not_asked(server: ChatServer) -> None:
    desk = ReasoningDesk(server, {"only": ("Page", "the only river page")})
    server.script.extend(
        [
            plan(("Q1.1", "which river?")),
            step("page", support="inferred", cited=[{"passage": 1, "quote": ""}], query="page"),
            concluded("page [1]", "inferred"),
        ]
    )
    answer, _ = await desk.ask("auto", "river page?")
    assert roles(server) == ["settle_or_plan", "answer_step", "conclude"]
    assert answer.plain == "page"


async def test_without_more_passages_there_is_no_second_look(server: ChatServer, desk: ReasoningDesk) -> None:
    server.script.extend([plan(("Q1.1", WHO)), step(support="none", query="author"), concluded("", "none")])
    answer, _ = await desk.ask("auto:more=0", "the author of Rumble Fish?")
    assert roles(server) == ["settle_or_plan", "answer_step", "conclude"]
    assert answer.abstained
