"""The bounds of LevelRAG: supplements, calls, the budget, and replies that cannot be read."""

import pytest

from core.trace import Budget
from tests.integration.reasoning.good_model import roles
from tests.integration.reasoning.level.replies import (
    HOPS,
    PLAIN,
    QUESTION,
    SUMMARIES,
    comparison,
    concluded,
    enough,
    queries,
    summarized,
    three_hops,
)
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, Reply


def never_content(desk: ReasoningDesk, supplements: int) -> None:
    """A verifier to which nothing is ever enough, and so many new queries each time."""
    comparison(desk.server)
    answered = desk.server.respond

    def respond(call: Call) -> Reply:
        match call.role:
            case "verify":
                return enough(False)
            case "supplement":
                return queries(*(f"Novel number {call.number}.{part}?" for part in range(supplements)))
        return answered(call)

    desk.server.respond = respond


async def test_a_supplement_that_never_ends(desk: ReasoningDesk) -> None:
    """Three supplements; after the last of them nothing is verified, since nothing could follow."""
    never_content(desk, 9)
    answer, trace = await desk.ask(f"{PLAIN},max_calls=100", "Which is taller?")
    assert roles(desk.server).count("supplement") == roles(desk.server).count("verify") == 3
    assert len(desk.queries) == 2 + 3 * 5
    assert "level: 3 supplements were made, the most that are allowed" in trace.notes
    assert "the model wrote 9 supplements; the first 5 were used" in trace.notes
    assert answer.plain == "Zork"
    assert answer.steps[-1].depth == 4


@pytest.mark.parametrize("calls", [3, 4, 7, 12])
async def test_calls_are_bounded_and_the_last_one_is_made(desk: ReasoningDesk, calls: int) -> None:
    never_content(desk, 5)
    answer, trace = await desk.ask(f"{PLAIN},max_calls={calls}", "Which is taller, Zork or Viking?")
    assert len(desk.server.calls) <= calls
    assert roles(desk.server)[-1] == "conclude"
    assert answer.plain == "Zork"
    assert any(f"no more than {calls} calls are made (max_calls, or the budget)" in note for note in trace.notes)


async def test_all_searchers_keep_to_the_bound(desk: ReasoningDesk) -> None:
    """By default, with a verifier that is never content. The same question makes the same calls again."""

    def respond(call: Call) -> Reply:
        match call.role:
            case "atomic_queries":
                return queries(*HOPS[:2])
            case "rewrite_keywords":
                return Reply.json({"keywords": ["Rumble Fish", "novel"]})
            case "refine_query":
                return Reply.json({"extend": f"Hinton {len(call.text)}", "emphasize": "novel", "filter": "Zork"})
            case "pseudo_document":
                return Reply.json({"passage": f"The Outsiders was published by Viking {len(call.text)}."})
            case "summarize":
                return summarized(f"This is about: {call.question}", 1)
            case "verify":
                return enough(False)
            case "supplement":
                return queries(f"Which house is Viking Press, after {call.text.count('Context ')}?")
        return concluded("Viking Press [1]")

    desk.server.respond = respond
    answer, _ = await desk.ask("level", QUESTION)
    made = sorted(roles(desk.server))
    assert len(made) <= 20
    assert made.count("summarize") == 2 + 3, "all rounds are made"
    assert answer.plain == "Viking Press"
    desk.server.calls.clear()
    await desk.ask("level", QUESTION)
    assert sorted(roles(desk.server)) == made


async def test_a_budget_that_ends(desk: ReasoningDesk) -> None:
    """Its calls are known before, so that the last one is made; its tokens are not."""
    three_hops(desk.server)
    answer, trace = await desk.ask(PLAIN, QUESTION, budget=Budget(calls=5))
    assert len(desk.server.calls) <= 5
    assert roles(desk.server)[-1] == "conclude"
    assert answer.shown == (SUMMARIES[HOPS[0]][0],)
    assert any("no more than 5 calls" in note for note in trace.notes)
    tokens = trace.usage.tokens - 1
    answer, trace = await desk.ask(PLAIN, QUESTION, budget=Budget(tokens=tokens // 2))
    assert answer.abstained
    assert any("left out: step answer" in note for note in trace.notes)


async def test_a_budget_that_ends_among_parallel_queries(desk: ReasoningDesk) -> None:
    comparison(desk.server)
    answer, trace = await desk.ask(PLAIN, "Which is taller, Zork or Viking?", budget=Budget(calls=2))
    assert len(desk.server.calls) == 2
    assert answer.abstained
    assert any("2 calls were allowed" in note for note in trace.notes)
