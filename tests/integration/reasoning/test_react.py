"""`react`: thought, search, observation, in one growing context, until it finishes or has no moves left."""

from typing import Any

import pytest

from core.errors import ModelFailed
from core.ports.reasoning import Support, Unsupported
from core.trace import Budget
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply

QUESTION = "When did Viking Press publish the novel by the author of Rumble Fish?"


def _search(query: str, thought: str = "I need more.") -> dict[str, Any]:
    return {"thought": thought, "action": "search", "input": query, "support": "none", "unstated": "", "citations": []}


def _finish(answer: str, *citations: int, support: str = "", unstated: str = "") -> dict[str, Any]:
    stands = {"support": support or ("stated" if answer else "none"), "unstated": unstated}
    return {"thought": "I have it.", "action": "finish", "input": answer, **stands, "citations": list(citations)}


def _script(desk: ReasoningDesk, *moves: dict[str, Any]) -> None:
    desk.server.scripts["next_thought"].extend(Reply.json(move) for move in moves)


async def test_the_context_grows_by_one_passage_a_search(desk: ReasoningDesk) -> None:
    moves = [
        _search("Rumble Fish"),
        _search("Hinton writer", "By S. E. Hinton."),
        _search("The Outsiders Viking Press"),
    ]
    _script(desk, *moves, _finish("1967", 3, 8))
    answer, trace = await desk.ask("react", QUESTION)
    assert [(query.text, query.k, query.private) for _, query in desk.searched] == [
        ("Rumble Fish", 1, False),
        ("Hinton writer", 1, True),
        ("The Outsiders Viking Press", 1, True),
    ]
    texts = [call.text for call in desk.server.calls]
    assert "You have not searched yet." in texts[0]
    assert "no passages were found" not in texts[0], "none were looked for"
    assert "There are 7 moves left" in texts[0]
    systems = {call.messages[0]["content"] for call in desk.server.calls}
    assert len(systems) == 1, "the same in each call, so that an endpoint can cache it"
    assert "Thought 1: I need more.\nSearch 1: Rumble Fish\nObservation 1: [1]" in texts[1]
    assert '<passage n="1" title="Rumble Fish">' in texts[1]
    assert "Thought 2: By S. E. Hinton.\nSearch 2: Hinton writer\nObservation 2: [2]" in texts[2]
    assert '<passage n="3" title="The Outsiders">' in texts[3]
    assert "There are 4 moves left" in texts[3]
    assert answer.text == "1967 [1]"
    assert answer.citations[0].quote == "The Outsiders was published by Viking Press in 1967."
    assert [(step.id, step.question, step.answer, step.parents) for step in answer.steps] == [
        ("1", "Rumble Fish", "By S. E. Hinton.", ()),
        ("2", "Hinton writer", "I need more.", ("1",)),
        ("3", "The Outsiders Viking Press", "I have it.", ("2",)),
        ("answer", QUESTION, "1967", ("3",)),
    ]
    assert answer.support is answer.steps[-1].support is Support.STATED
    assert len(answer.shown or ()) == 3
    assert sum(step.tokens for step in answer.steps) == trace.usage.tokens
    assert "a citation [8] was dropped: no such passage was shown" in "".join(trace.notes).replace(" of step 4", "")


async def test_a_search_that_brings_what_is_known_keeps_its_number(desk: ReasoningDesk) -> None:
    _script(desk, _search("Rumble Fish"), _search("Rumble Fish novel"), _search("zzz"), _finish(""))
    answer, _ = await desk.ask("react", QUESTION)
    assert "Observation 2: [1] again, and further [2]" in desk.server.calls[2].text
    assert "Observation 3: nothing\n" in desk.server.calls[3].text
    assert desk.server.calls[3].text.count("<passage ") == 2
    assert [(query.text, query.k) for _, query in desk.searched] == [
        ("Rumble Fish", 1),
        ("Rumble Fish novel", 1),
        ("Rumble Fish novel", 2),
        ("zzz", 1),
    ]
    assert answer.abstained


async def test_a_search_that_brings_nothing_new_says_so(desk: ReasoningDesk) -> None:
    _script(desk, _search("Rumble Fish"), _search("Rumble"), _finish("", unstated="the year"))
    answer, _ = await desk.ask("react", QUESTION)
    assert "Observation 2: nothing new ([1] again)" in desk.server.calls[2].text
    assert answer.note == "Not stated: the year."


@pytest.mark.parametrize(
    ("finish", "support", "cites"),
    [
        (_finish("1967", 1, support="inferred", unstated="the year"), Support.INFERRED, 1),
        (_finish("1967", support="stated"), Support.INFERRED, 0),
        (_finish("1967", 1, support="sure"), Support.INFERRED, 1),
        (_finish("1967", 1, support="memory"), Support.NONE, 0),
        (_finish("1967", 1, support="none"), Support.NONE, 0),
    ],
)
async def test_what_an_answer_stands_on(
    desk: ReasoningDesk, finish: dict[str, Any], support: Support, cites: int
) -> None:
    _script(desk, _search("Rumble Fish"), finish)
    answer, _ = await desk.ask("react", QUESTION)
    assert (answer.support, len(answer.citations)) == (support, cites)
    assert answer.abstained is (support is Support.NONE)


async def test_an_answer_from_memory_where_the_request_permits_it(desk: ReasoningDesk) -> None:
    _script(desk, _search("Rumble Fish"), _finish("1967", 1, support="memory"))
    answer, _ = await desk.ask("react", QUESTION, unsupported=Unsupported.MEMORY)
    assert (answer.text, answer.support, answer.citations) == ("1967", Support.MEMORY, ())


async def test_a_model_that_never_finishes_is_asked_to_conclude(desk: ReasoningDesk) -> None:
    desk.server.respond = lambda call: (
        Reply.json(_search("Rumble Fish"))
        if call.role == "next_thought"
        else Reply.json({"thoughts": "So.", "answer": "S. E. Hinton [1]", "support": "stated", "unstated": ""})
    )
    answer, trace = await desk.ask("react:rounds=3", QUESTION)
    assert [call.role for call in desk.server.calls] == ["next_thought"] * 3 + ["conclude"]
    assert "This is your last move." in desk.server.calls[2].text
    assert answer.text == "S. E. Hinton [1]"
    assert any("3 moves did not lead to an answer" in note for note in trace.notes)


async def test_a_move_that_is_none_is_sent_back_once(desk: ReasoningDesk) -> None:
    _script(desk, _search("  "), _finish("1967"))
    answer, _ = await desk.ask("react", QUESTION)
    assert "a search needs a query" in desk.server.calls[1].text
    assert (answer.text, answer.citations, desk.searched) == ("1967", (), [])
    _script(desk, {**_search("x"), "action": "lookup"}, {**_search("x"), "action": "ponder"})
    with pytest.raises(ModelFailed, match="next_thought"):
        await desk.ask("react", QUESTION)


async def test_a_budget_that_ends_tells_what_was_found(desk: ReasoningDesk) -> None:
    _script(desk, _search("Rumble Fish"), _search("Hinton", "It is by S. E. Hinton."))
    answer, trace = await desk.ask("react", QUESTION, budget=Budget(calls=2))
    assert answer.abstained
    assert "It is by S. E. Hinton." in answer.text
    assert any("left out: step answer" in note for note in trace.notes)
