"""`omni`: the question mended and split, a retrieval each, the union reranked to ten, thinking, votes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.ports.chat import Message, Speaker
from core.ports.reasoning import Support
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer, Reply

NOISY = "whn was teh outsiders publishd n who wrot rumble fish??"
CLEAN = "When was The Outsiders published, and who wrote Rumble Fish?"
INTENTS = ["publication date of The Outsiders", "author of Rumble Fish"]
MANY = {
    f"d{n:02}": (f"Lamp {n}", f"Lamp number {n} is {'bright and green' if n % 2 else 'bright'}.") for n in range(30)
}


class LongestFirst:
    """Scores a text by its last number, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((question, list(texts)))
        return [float("".join(c for c in text.split(" is ")[0].split()[-1] if c.isdigit()) or 0) for text in texts]

    async def close(self) -> None:
        """There is nothing to give back."""


def _concluded(text: str, support: str = "") -> Reply:
    word = support or ("stated" if text else "none")
    return Reply.json({"thoughts": "Both are there.", "answer": text, "support": word, "unstated": ""})


def _understood(desk: ReasoningDesk, clean: str = CLEAN, intents: Sequence[str] = INTENTS) -> None:
    desk.server.scripts["denoise"].append(Reply.json({"question": clean}))
    desk.server.scripts["split_intents"].append(Reply.json({"queries": list(intents)}))


async def test_mend_split_retrieve_unite_answer(desk: ReasoningDesk) -> None:
    _understood(desk)
    desk.server.scripts["conclude"].append(_concluded("1967 [1]; S. E. Hinton [2][40]"))
    answer, trace = await desk.ask("omni", NOISY)
    assert [call.role for call in desk.server.calls] == ["denoise", "split_intents", "conclude"]
    first, second, last = (call.messages[-1]["content"] for call in desk.server.calls)
    assert NOISY in first
    assert CLEAN in second
    assert NOISY not in second
    assert NOISY in last
    assert sorted(desk.queries) == sorted(INTENTS)
    assert {(query.k, query.private) for _, query in desk.searched} == {(10, False)}
    keys = [line.split('title="')[1].rstrip('">') for line in last.splitlines() if line.startswith("<passage")]
    assert len(keys) == len(set(keys))
    assert {"The Outsiders", "Rumble Fish"} <= set(keys)
    assert answer.text.endswith("S. E. Hinton [2]")
    assert [(step.id, step.question, step.parents, step.depth) for step in answer.steps] == [
        ("1", INTENTS[0], (), 0),
        ("2", INTENTS[1], (), 0),
        ("answer", CLEAN, ("1", "2"), 1),
    ]
    assert any("no reranker is configured" in note for note in trace.notes)
    assert any(event.kind == "token" for event in trace.events)


@pytest.mark.parametrize(
    ("by", "against"), [("rewritten", "Which lamps are bright?"), ("original", "wich lamps r brigt")]
)
async def test_the_union_is_reranked_to_ten(server: ChatServer, by: str, against: str) -> None:
    reranker = LongestFirst()
    desk = ReasoningDesk(server, MANY, reranker=reranker)
    _understood(desk, "Which lamps are bright?", ["bright lamp", "green lamp"])
    server.scripts["conclude"].append(_concluded("29 [1]"))
    answer, trace = await desk.ask(f"omni:k=20,rerank_by={by}", "wich lamps r brigt")
    ((question, texts),) = reranker.asked
    assert question == against
    assert len(texts) == len(set(texts))
    assert 20 < len(texts) <= 30, "the union of both, each passage once"
    told = server.calls[-1].text
    assert told.count("<passage ") == 10
    assert '<passage n="1" title="Lamp 29">' in told
    assert answer.citations[0].document.key == "d29"
    assert not any("reranker" in note for note in trace.notes)
    assert "rerank" in trace.timing


async def test_its_parts_can_be_switched_off(server: ChatServer) -> None:
    reranker = LongestFirst()
    desk = ReasoningDesk(server, MANY, reranker=reranker)
    server.scripts["conclude"].append(_concluded("it is green [1]"))
    history = (Message(speaker=Speaker.ASSISTANT, content="secret"),)
    answer, trace = await desk.ask(
        "omni:denoise=false,decompose=false,rerank=false,keep=3,searcher=sparse", "green lamp", k=7, history=history
    )
    ((name, query),) = desk.searched
    assert (name, query.text, query.k, query.private) == ("sparse", "green lamp", 7, False)
    assert [call.role for call in server.calls] == ["conclude"]
    assert server.calls[0].text.count("<passage ") == 3
    assert reranker.asked == []
    assert trace.notes == []
    assert answer.citations[0].document.key == "d01"


async def test_intents_are_bounded_and_private_after_a_conversation(desk: ReasoningDesk) -> None:
    _understood(desk, "  ", [f"novel {n} Hinton" for n in range(30)])
    desk.server.scripts["conclude"].append(_concluded(""))
    history = (Message(speaker=Speaker.ASSISTANT, content="secret"),)
    answer, trace = await desk.ask("omni:max_intents=3", NOISY, history=history)
    assert sorted(desk.queries) == ["novel 0 Hinton", "novel 1 Hinton", "novel 2 Hinton"]
    assert {query.private for _, query in desk.searched} == {True}
    assert answer.abstained
    assert "the model wrote 30 queries; the first 3 were used" in trace.notes
    assert any("rewrote the question to nothing" in note for note in trace.notes)
    assert NOISY in desk.server.calls[1].text
    assert all("secret" in call.text for call in desk.server.calls)


async def test_nothing_found_is_an_abstention(desk: ReasoningDesk) -> None:
    _understood(desk, "xyzzy", ["xyzzy"])
    desk.server.scripts["conclude"].append(_concluded(""))
    answer, _ = await desk.ask("omni", "xyzy")
    assert answer.abstained
    assert "(no passages were found)" in desk.server.calls[-1].text


async def test_paths_are_sampled_side_by_side_and_voted_on(desk: ReasoningDesk) -> None:
    drafts = [
        *[_concluded("The Outsiders [1]"), _concluded("Tex [1]")],
        *[_concluded("the outsiders. [1]", "inferred"), _concluded("")],
    ]
    desk.server.respond = lambda call: replace(drafts[call.number % 4], until=lambda: desk.server.most_in_flight >= 4)
    answer, trace = await desk.ask(
        "omni:denoise=false,decompose=false,paths=4", "Which novel did Viking Press publish?"
    )
    assert answer.plain.strip(".").casefold() == "the outsiders"
    assert answer.support is Support.INFERRED, "of those that agree, one is not sure"
    assert [call.body["temperature"] for call in desk.server.calls] == [0.7] * 4
    assert desk.server.most_in_flight == 4
    assert not any(event.kind == "token" for event in trace.events), "several drafts are not streamed"


async def test_answers_that_differ_are_not_outvoted_by_abstentions(desk: ReasoningDesk) -> None:
    drafts = [_concluded(""), _concluded("Tex [1]"), _concluded(""), _concluded("The Outsiders [1]")]
    desk.server.respond = lambda call: drafts[call.number % 4]
    spec = "omni:denoise=false,decompose=false,paths=4"
    answer, _ = await desk.ask(spec, "Which novel did Viking Press publish?")
    assert answer.plain in {"Tex", "The Outsiders"}
    drafts[1] = _concluded("")
    desk.server.calls.clear()
    answer, _ = await desk.ask(spec, "Which novel did Viking Press publish?")
    assert answer.abstained


@pytest.mark.parametrize(("option", "shown", "hidden"), [("original", NOISY, CLEAN), ("rewritten", CLEAN, NOISY)])
async def test_the_question_that_is_answered(desk: ReasoningDesk, option: str, shown: str, hidden: str) -> None:
    _understood(desk)
    desk.server.scripts["conclude"].append(_concluded("1967 [3]"))
    answer, _ = await desk.ask(f"omni:generate_from={option}", NOISY)
    last = desk.server.calls[-1].messages[-1]["content"]
    assert shown in last
    assert hidden not in last
    assert answer.support is Support.STATED
