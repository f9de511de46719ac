"""`cot`: one retrieval, one answer after thinking aloud."""

from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply


async def test_only_what_follows_the_thoughts_is_the_answer(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].append(
        Reply.json({"thoughts": "Rumble Fish is by Hinton [1].", "answer": "S. E. Hinton [1][9]", "support": "stated"})
    )
    answer, trace = await desk.ask("cot:searcher=sparse,k=3", "Who wrote Rumble Fish?")
    assert answer.text == "S. E. Hinton [1]"
    assert answer.reasoner == "cot"
    assert answer.citations[0].quote == "Rumble Fish is a novel by S. E. Hinton."
    assert "a citation [9] was dropped: no such passage was shown" in trace.notes
    ((name, query),) = desk.searched
    assert (name, query.text, query.k, query.private) == ("sparse", "Who wrote Rumble Fish?", 3, False)
    assert "step by step" in desk.server.calls[0].text
    streamed = "".join(event.text for event in trace.events if event.kind == "token")  # type: ignore[attr-defined]
    assert "is by Hinton" not in streamed


async def test_the_requests_k_goes_before_its_own(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].append(Reply.json({"thoughts": "I see nothing.", "answer": "", "support": "none"}))
    answer, _ = await desk.ask("cot", "Who wrote Rumble Fish?", k=2)
    assert answer.abstained
    assert desk.searched[0][1].k == 2
