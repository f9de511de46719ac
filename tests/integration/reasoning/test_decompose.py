"""`decompose`: sub-questions in sequence, earlier answers known, on the question's passages or on their own."""

import pytest

from core.events import PlanEvent
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Support, Unsupported
from core.trace import Budget
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply

QUESTION = "Who wrote Rumble Fish, and when did Viking Press publish The Outsiders?"
PARTS = ["Who wrote Rumble Fish?", "When did Viking Press publish The Outsiders?"]


def _scripted(desk: ReasoningDesk, *answers: dict[str, object], parts: list[str] = PARTS) -> None:
    desk.server.scripts["split_question"].append(Reply.json({"questions": parts}))
    desk.server.scripts["answer"].extend(Reply.json(answer) for answer in answers)


def _found(text: str, *citations: int) -> dict[str, object]:
    return {"answer": text, "support": "stated", "unstated": "", "citations": list(citations)}


def _concluded(text: str) -> Reply:
    return Reply.json({"answer": text, "support": "stated", "unstated": ""})


NOTHING = {"answer": "", "support": "none", "unstated": "the author", "citations": []}


async def test_one_retrieval_with_the_question_serves_all_parts(desk: ReasoningDesk) -> None:
    _scripted(desk, _found("S. E. Hinton", 2), _found("1967", 1))
    desk.server.scripts["conclude"].append(_concluded("S. E. Hinton [1], 1967 [2]"))
    answer, trace = await desk.ask("decompose", QUESTION)
    assert [call.role for call in desk.server.calls] == ["split_question", "answer", "answer", "conclude"]
    ((name, query),) = desk.searched
    assert (name, query.text, query.k, query.private) == ("bridged", QUESTION, 5, False)
    first, second, last = (call.text for call in desk.server.calls[1:])
    assert '<passage n="1" title="The Outsiders">' in first
    assert "What is known already" not in first
    assert "Question: Who wrote Rumble Fish?\nAnswer: S. E. Hinton\nQuote from Rumble Fish" in second
    assert "[1] Rumble Fish: Rumble Fish is a novel by S. E. Hinton." in last
    assert "[2] The Outsiders: The Outsiders was published by Viking Press in 1967." in last
    assert "<passage" not in last
    assert answer.text == "S. E. Hinton [1], 1967 [2]"
    assert [citation.document.key for citation in answer.citations] == ["rumble", "outsiders"]
    assert [(step.id, step.answer, step.parents, step.depth) for step in answer.steps] == [
        ("1", "S. E. Hinton", (), 0),
        ("2", "1967", ("1",), 1),
        ("answer", "S. E. Hinton [1], 1967 [2]", ("1", "2"), 2),
    ]
    (plan,) = [event for event in trace.events if isinstance(event, PlanEvent)]
    assert [one.question for one in plan.steps] == [*PARTS, QUESTION]


async def test_each_part_retrieves_for_itself(desk: ReasoningDesk) -> None:
    _scripted(desk, NOTHING, _found("1967", 1))
    desk.server.scripts["conclude"].append(_concluded("1967 [1]"))
    answer, _ = await desk.ask("decompose:retrieve=node,k=2", QUESTION)
    assert desk.queries == PARTS
    assert {query.private for _, query in desk.searched} == {False}
    second, last = desk.server.calls[2].text, desk.server.calls[3].text
    assert "What is known already" not in second, "a part without an answer is not known"
    assert "Question: Who wrote Rumble Fish?\nAnswer: (not found)" in last
    assert [step.support for step in answer.steps] == [Support.NONE, Support.STATED, Support.STATED]
    assert [len(step.hits) for step in answer.steps] == [1, 2, 0]


async def test_what_is_written_after_a_conversation_is_private(desk: ReasoningDesk) -> None:
    _scripted(desk, NOTHING, NOTHING)
    history = (Message(speaker=Speaker.ASSISTANT, content="The contract is with Viking."),)
    answer, _ = await desk.ask("decompose:retrieve=node", QUESTION, history=history)
    assert [query.private for _, query in desk.searched] == [True, True]
    assert answer.abstained, "no part was answered, so no last call is made"
    assert answer.note == "Not stated: the author."
    assert "conclude" not in [call.role for call in desk.server.calls]


async def test_a_split_is_bounded_and_holds_nothing_twice(desk: ReasoningDesk) -> None:
    _scripted(desk, *[_found("x", 1)] * 3, parts=["a hinton", "A  hinton", " ", *[f"viking {n}" for n in range(40)]])
    desk.server.scripts["conclude"].append(_concluded("x"))
    answer, trace = await desk.ask("decompose:max_questions=3", QUESTION)
    assert [step.question for step in answer.steps] == ["a hinton", "viking 0", "viking 1", QUESTION]
    assert "the model wrote 41 sub-questions; the first 3 were used" in trace.notes


@pytest.mark.parametrize("parts", [[], ["Where is Peking University?"]])
async def test_a_question_for_one_fact_is_one_step(desk: ReasoningDesk, parts: list[str]) -> None:
    """It is looked up and answered as it was asked, in one call; its plan has the depth 0."""
    _scripted(desk, parts=parts)
    desk.server.scripts["conclude"].append(_concluded("北京 [1]"))
    answer, trace = await desk.ask("decompose", "北京大学在哪里?")
    assert [call.role for call in desk.server.calls] == ["split_question", "conclude"]
    assert [(step.id, step.question, step.depth, step.answer) for step in answer.steps] == [
        ("1", "北京大学在哪里?", 0, "北京 [1]")
    ]
    assert desk.queries == ["北京大学在哪里?"]
    assert answer.citations[0].quote == "北京大学位于北京。"
    (plan,) = [event for event in trace.events if isinstance(event, PlanEvent)]
    assert len(plan.steps) == 1


async def test_a_conclusion_may_come_from_memory_if_the_request_permits_it(desk: ReasoningDesk) -> None:
    _scripted(desk, NOTHING, NOTHING)
    remembered = {"answer": "1967", "support": "memory", "unstated": ""}
    desk.server.scripts["conclude"].append(Reply.json(remembered))
    answer, _ = await desk.ask("decompose", QUESTION, unsupported=Unsupported.MEMORY)
    assert (answer.text, answer.support) == ("1967", Support.MEMORY)


async def test_a_budget_that_ends_before_the_last_call_tells_what_is_missing(desk: ReasoningDesk) -> None:
    _scripted(desk, _found("S. E. Hinton", 2), _found("1967", 1))
    answer, trace = await desk.ask("decompose", QUESTION, budget=Budget(calls=3))
    assert answer.abstained
    assert "Who wrote Rumble Fish? S. E. Hinton" in answer.text
    assert any(f"left out: step answer ({QUESTION!r})" in note for note in trace.notes)


async def test_what_is_not_stated_is_not_told_when_the_budget_ends(desk: ReasoningDesk) -> None:
    inferred = {"answer": "1967", "support": "inferred", "unstated": "the year", "citations": [1]}
    _scripted(desk, _found("S. E. Hinton", 2), inferred)
    answer, _ = await desk.ask("decompose", QUESTION, unsupported=Unsupported.ABSTAIN, budget=Budget(calls=3))
    assert answer.abstained
    assert answer.text.endswith("Found so far: Who wrote Rumble Fish? S. E. Hinton")
