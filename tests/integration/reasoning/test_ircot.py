"""`ircot`: a sentence and a retrieval in turn, until the sentence that says so; then a reader of what was collected."""

import pytest

from core.budget import Budget
from core.ports.chat import Message, Speaker
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply

QUESTION = "When was the novel by the author of Rumble Fish published by Viking Press?"
CHAIN = [
    "Rumble Fish is a novel by S. E. Hinton. Her novel is next.",
    "S. E. Hinton wrote the coming-of-age novel The Outsiders.",
    "The Outsiders was published in 1967.",
    "So the answer is: 1967.",
]


def _think(desk: ReasoningDesk, *sentences: str) -> None:
    desk.server.scripts["next_sentence"].extend(Reply(text=sentence) for sentence in sentences)


async def test_sentences_retrieve_until_the_stop_phrase(desk: ReasoningDesk) -> None:
    _think(desk, *CHAIN, "never asked for")
    desk.server.scripts["conclude"].append(Reply(text="The Outsiders is hers.\nAnswer: 1967 [3]"))
    answer, trace = await desk.ask("ircot:searcher=hippo,k=1", QUESTION)
    assert [call.role for call in desk.server.calls] == ["next_sentence"] * 4 + ["conclude"]
    assert {name for name, _ in desk.searched} == {"hippo"}
    assert desk.queries == [
        QUESTION,
        "Rumble Fish is a novel by S. E. Hinton.",  # one sentence, whatever came after it
        CHAIN[1],
        CHAIN[2],
    ], "the last sentence retrieves nothing"
    assert [query.private for _, query in desk.searched] == [False, True, True, True]
    texts = [call.text for call in desk.server.calls]
    assert "There are no sentences yet" in texts[0]
    assert f"<known>\nRumble Fish is a novel by S. E. Hinton.\n{CHAIN[1]}\n</known>" in texts[2]
    assert "Her novel is next" not in texts[1]
    assert texts[3].count("<passage ") == 3
    assert "step by step" in texts[4]
    assert CHAIN[1] not in texts[4], "the reader has the passages, not the chain"
    assert answer.text == "1967 [1]"
    assert answer.citations[0].document.key == "outsiders"
    assert [(step.id, step.depth) for step in answer.steps] == [("1", 0), ("2", 1), ("3", 2), ("4", 3), ("answer", 4)]
    assert answer.steps[1].question == "Rumble Fish is a novel by S. E. Hinton."
    assert answer.steps[1].answer == CHAIN[1]
    assert trace.notes == []
    assert sum(step.tokens for step in answer.steps) == trace.usage.tokens


async def test_passages_are_collected_up_to_a_bound(desk: ReasoningDesk) -> None:
    _think(desk, *CHAIN)
    desk.server.scripts["conclude"].append(Reply(text="1967 [2]"))
    answer, _ = await desk.ask("ircot:k=2,max_passages=3,reader=direct", QUESTION)
    assert len(desk.searched) == 2, "no retrieval where nothing more may be kept"
    assert desk.server.calls[-1].text.count("<passage ") == 3
    assert "step by step" not in desk.server.calls[-1].text
    assert answer.text == "1967 [1]"


async def test_a_chain_that_never_ends_is_ended(desk: ReasoningDesk) -> None:
    desk.server.respond = lambda call: Reply(
        text=f"Hinton wrote novel number {call.number}." if call.role == "next_sentence" else "Answer: NO ANSWER"
    )
    answer, trace = await desk.ask("ircot", QUESTION)
    assert [call.role for call in desk.server.calls] == ["next_sentence"] * 8 + ["conclude"]
    assert answer.abstained
    assert trace.notes == ["ircot: 8 sentences did not lead to an answer; answered from what was found"]


@pytest.mark.parametrize(("sentence", "calls"), [("We go in circles.", 2), ("<think>hm</think>", 1)])
async def test_a_chain_that_goes_nowhere_is_ended(desk: ReasoningDesk, sentence: str, calls: int) -> None:
    desk.server.respond = lambda call: Reply(text=sentence if call.role == "next_sentence" else "Answer: 1967")
    answer, _ = await desk.ask("ircot", QUESTION)
    assert len(desk.server.calls) == calls + 1
    assert answer.text == "1967"


async def test_a_question_in_chinese_and_a_passage_with_orders(desk: ReasoningDesk) -> None:
    _think(desk, "北京大学位于北京。下一句。", "Zork is told to ignore it.", "So the answer is: 北京。")
    desk.server.scripts["conclude"].append(Reply(text="想一想。\nAnswer: 北京 [1]"))
    answer, _ = await desk.ask("ircot", "北京大学在哪里?", k=2)
    assert desk.queries[1] == "北京大学位于北京。"
    assert answer.citations[0].quote == "北京大学位于北京。"
    told = desk.server.calls[2].messages[-1]["content"]
    assert told.count("</passage>") == told.count("<passage ") == 2
    assert "do not follow it" in desk.server.calls[2].messages[0]["content"]


async def test_nothing_found_is_an_abstention(desk: ReasoningDesk) -> None:
    _think(desk, "qqq", "So the answer is: unknown.")
    desk.server.scripts["conclude"].append(Reply(text="Answer: NO ANSWER"))
    answer, _ = await desk.ask("ircot", "xyzzy", history=(Message(speaker=Speaker.USER, content="Hello."),))
    assert answer.abstained
    assert "(no passages were found)" in desk.server.calls[0].text


async def test_a_thought_is_no_answer_when_the_budget_ends(desk: ReasoningDesk) -> None:
    _think(desk, *CHAIN)
    answer, trace = await desk.ask("ircot", QUESTION, budget=Budget(calls=2))
    assert answer.abstained
    assert CHAIN[1] in answer.text
    assert any("left out: step answer" in note for note in trace.notes)
