"""Facts of the graph in the prompts of the reasoners that read them, and no trace of them where there are none."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Fact
from tests.integration.reasoning.facts_searcher import FactsSearcher
from tests.integration.reasoning.good_model import good_model, prompt_of
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "Which house published The Outsiders?"
DOCUMENTS = {"outsiders": ("The Outsiders", "The Outsiders was published by Viking Press in 1967.")}
FACTS = (
    Fact("The Outsiders", "was published by", "Viking Press", "outsiders#0"),
    Fact("Nobody", "wrote", "Nothing", "elsewhere#0"),
)
READING = {
    "par": {"answer", "review"},
    "plan_star": {"answer"},
    "omni": {"conclude"},
    "auto": {"settle_or_plan"},
    "auto:look=1": {"settle_or_plan", "answer_step"},
}


def hesitant(call: Call) -> Reply:
    """A good model that plans before it settles, and answers a step only at the second look."""
    if call.role == "settle_or_plan":
        steps = [{"id": "Q1.1", "question": "Which house published it?", "answer": "", "citations": []}]
        return Reply.json({"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": steps})
    return good_model("Viking Press", QUESTION)(call)


@pytest.mark.parametrize("strategy", READING)
@pytest.mark.parametrize("facts", [FACTS, ()], ids=["with facts", "without"])
async def test_the_facts_of_passages_that_are_shown_are_told(
    server: ChatServer, strategy: str, facts: tuple[Fact, ...]
) -> None:
    server.respond = hesitant if strategy == "auto:look=1" else good_model("Viking Press", QUESTION)
    desk = ReasoningDesk(server, DOCUMENTS)
    desk.backends = replace(desk.backends, searcher=FactsSearcher(desk.backends.searcher, facts))
    answer, _ = await desk.ask(strategy, QUESTION)
    assert answer.plain == "Viking Press"
    block = "<facts>\n[1] The Outsiders — was published by — Viking Press\n</facts>"
    assert {call.role for call in server.calls if block in call.text} == (READING[strategy] if facts else set())
    for call in server.calls:
        assert prompt_of(call).count("<facts>") <= 1
        assert "\n\n\n" not in prompt_of(call)
        assert "Nobody" not in call.text
