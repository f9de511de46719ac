"""`direct`: one call, no search, nothing cited, and it says so."""

import pytest

from core.ports.chat import Message, Speaker
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply


async def test_it_answers_from_memory_and_says_so(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].append(Reply.json({"answer": "S. E. Hinton [1]"}))
    history = (Message(speaker=Speaker.USER, content="We talk of novels."),)
    answer, trace = await desk.ask("direct", "Who wrote Rumble Fish?", instructions="In one word.", history=history)
    assert (answer.text, answer.citations, answer.abstained) == ("S. E. Hinton", (), False)
    assert "direct: answered from the model's memory; nothing is cited" in trace.notes
    assert desk.searched == []
    (call,) = desk.server.calls
    assert [message["role"] for message in call.messages] == ["system", "user", "user"]
    assert "In one word." in call.messages[0]["content"]
    assert "<passage" not in call.text
    assert "Who wrote Rumble Fish?" in call.messages[-1]["content"]


async def test_it_abstains_where_the_model_does_not_know(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].append(Reply.json({"answer": ""}))
    answer, trace = await desk.ask("direct", "谁写了这本书?")
    assert answer.abstained
    assert answer.text == "The model says that it does not know."
    assert not [event for event in trace.events if event.kind == "token"]
    assert "谁写了这本书?" in desk.server.calls[0].text


@pytest.mark.parametrize("told", ["I don't know.", "I do not know who wrote it.", "Das weiß ich nicht.", "unknown"])
@pytest.mark.parametrize("reasoner", ["direct", "self_rag:retrieve=never"])
async def test_not_knowing_in_words_is_an_abstention(desk: ReasoningDesk, reasoner: str, told: str) -> None:
    desk.server.scripts["conclude"].append(Reply.json({"answer": told}))
    answer, _ = await desk.ask(reasoner, "Who wrote Rumble Fish?")
    assert answer.abstained
    assert answer.support == "none"
