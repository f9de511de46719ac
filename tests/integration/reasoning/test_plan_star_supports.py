"""Plan*RAG with answers that are only inferred or missing: what later calls are told, and what the last one reads."""

import pytest

from core.ports.reasoning import Support
from tests.integration.reasoning.good_model import of_role
from tests.integration.reasoning.plan_star_replies import ANSWERS, DOCUMENTS, FILLED, QUESTION, answered, rumble
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer, Reply

MARK = "(inferred; not stated: that it is)"


def inferred(text: str, *citations: int) -> Reply:
    return Reply.json({"answer": text, "support": "inferred", "unstated": "that it is", "citations": list(citations)})


async def test_an_inferred_answer_is_carried_on_and_marked(server: ChatServer) -> None:
    rumble(server)
    server.scripts["answer"].append(inferred("S. E. Hinton", 1))
    server.scripts["conclude"].append(
        Reply.json({"answer": "1967 [3]", "support": "inferred", "unstated": "the author"})
    )
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("plan_star", QUESTION)
    for call in (of_role(server, "answer")[1], of_role(server, "fill_tags")[0], of_role(server, "conclude")[0]):
        assert f"Answer: S. E. Hinton {MARK}" in call.text
    assert "used as if it were true" in of_role(server, "fill_tags")[0].text
    assert (answer.plain, answer.support) == ("1967", Support.INFERRED)
    assert answer.note.endswith("Not stated: the author.")


async def test_each_of_several_inferred_answers_is_marked_without_tags(server: ChatServer) -> None:
    rumble(server)
    told = {"answer": "S. E. Hinton; Mark <A9.9> Twain;", "unstated": "is it <A2.1>?", "citations": [1]}
    server.scripts["answer"].append(Reply.json({**told, "support": "inferred"}))
    await ReasoningDesk(server, DOCUMENTS).ask("plan_star", QUESTION)
    mark = "(inferred; not stated: is it A2.1?)"
    filling = of_role(server, "fill_tags")[0].text
    assert f"Answer: S. E. Hinton {mark}\nAnswer: Mark A9.9 Twain {mark}\n</known>" in filling
    assert f"<question>\n{QUESTION}\n</question>" in filling, "it tells which of them is meant"


async def test_a_mark_is_not_pasted_into_a_question(server: ChatServer) -> None:
    rumble(server)
    server.scripts["answer"].append(inferred("S. E. Hinton", 1))
    server.scripts["fill_tags"].append(Reply.json({"question": f"Which novel is by S. E. Hinton {MARK}?"}))
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("plan_star", QUESTION)
    assert "the words '(inferred' were pasted" in of_role(server, "fill_tags")[1].messages[-1]["content"]
    assert answer.steps[1].question == FILLED[1]


async def test_the_last_call_reads_all_steps(server: ChatServer) -> None:
    rumble(server)
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask("plan_star", QUESTION)
    (conclude,) = of_role(server, "conclude")
    steps = [conclude.text.index(f"Question: {one}\nAnswer: {said}") for one, said in zip(FILLED, ANSWERS, strict=True)]
    assert steps == sorted(steps)
    assert "[1] Rumble Fish: Its author is S. E. Hinton." in conclude.text
    assert "[3] Viking Press: In 1967 The Outsiders was published by Viking Press." in conclude.text
    assert "even where its quotes alone do not show it" in conclude.text
    assert [citation.document.key for citation in answer.citations] == ["viking"]


async def test_the_last_call_reads_which_step_has_no_answer(server: ChatServer) -> None:
    rumble(server)
    server.scripts["answer"].append(answered(""))
    await ReasoningDesk(server, DOCUMENTS).ask("plan_star", QUESTION)
    assert f"Question: {FILLED[0]}\nAnswer: (not found)\n</known>" in of_role(server, "conclude")[0].text


@pytest.mark.parametrize("options", ["preset=paper", "conclude_from=sinks"])
async def test_as_published_the_last_call_reads_sinks_and_their_parents(server: ChatServer, options: str) -> None:
    rumble(server, "1967 [2]")
    answer, _ = await ReasoningDesk(server, DOCUMENTS).ask(f"plan_star:{options}", QUESTION)
    (conclude,) = of_role(server, "conclude")
    assert FILLED[0] not in conclude.text
    assert all(one in conclude.text for one in FILLED[1:])
    assert answer.citations[0].document.key == "viking"


async def test_quotes_beyond_the_words_that_the_last_call_reads_are_left_out(server: ChatServer) -> None:
    documents = {f"d{n}": (f"Rumble {n}", f"Rumble Fish {n} has an author " + "reader " * 400) for n in range(5)}
    server.scripts["plan_dag"].append(Reply.json({"nodes": [{"id": "Q0.1", "question": QUESTION}]}))
    server.scripts["answer"].append(answered("an author", 1, 2, 3, 4, 5))
    server.scripts["conclude"].append(Reply.json({"answer": "an author [2] [4]", "support": "stated", "unstated": ""}))
    answer, trace = await ReasoningDesk(server, documents).ask("plan_star", QUESTION)
    assert len(answer.steps[0].quotes) == 5
    assert "[2] Rumble" in of_role(server, "conclude")[0].text
    assert "[3] Rumble" not in of_role(server, "conclude")[0].text
    assert "conclude: 3 quotes of the steps were left out; they are too long together" in trace.notes
    assert answer.text == "an author [1]"
