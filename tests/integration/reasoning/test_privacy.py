"""A query may leave the house only if nothing of a passage can be in it: whatever is drawn from one is traced here."""

from typing import Any

import pytest

from core.ports.chat import Message, Speaker
from tests.integration.reasoning.good_model import STRATEGIES
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "Which house published The Outsiders?"
DRAWN = "Vellichor"
DOCUMENTS = {
    "outsiders": ("The Outsiders", f"{DRAWN} House published The Outsiders."),
    "house": ("House", f"A house is a house, says {DRAWN}."),
}


def gossip(call: Call) -> Reply:
    """All that it writes repeats what it was shown, and nothing is ever enough."""
    heard = f" {DRAWN}" if DRAWN in call.text else ""
    asked = f"Which house?{heard}"
    steps = [("Q1.1", asked), ("Q1.2", f"Which outsiders?{heard}"), ("Q2.1", "Who published <A1.1>?")]
    nodes = [{"id": id, "question": question} for id, question in steps]
    said: dict[str, Any] = {
        "plan": {"steps": [{"thought": "", "question": question, "action": "Retrieve"} for _, question in steps]},
        "plan_dag": {"nodes": nodes},
        "settle_or_plan": {"settled": False, "steps": nodes},
        "need_retrieval": {"retrieve": True},
        "query_entities": {"entities": [f"house{heard}"]},
        "verify": {"enough": False},
        "critique": {"relevant": False, "support": "none", "usefulness": 1},
        "review": {"status": "UNCONFIDENT", "question": f"{asked} ({call.number})", "answer": "", "citations": []},
        "answer": {"answer": f"house{heard}", "support": "stated", "citations": [1]},
        "answer_step": {"answers": [f"house{heard}"], "support": "inferred", "query": f"which{heard} {call.number}"},
        "conclude": {"answer": f"It is the house{heard}.", "support": "inferred"},
        "summarize": {"summary": f"It is the house{heard}.", "support": "stated", "citations": [1]},
        "next_queries": {"moves": [{"kind": "decompose", "query": f"{asked} {call.number}"}]},
        "next_thought": {"thought": heard, "action": "search", "input": f"{asked} {call.number}", "citations": []},
    }
    if call.role in said:
        return Reply.json(said[call.role])
    if call.role in {"next_sentence", "pseudo_document"}:
        return Reply(text=f"It is the house {call.number}{heard}.")
    questions = [f"{asked} {call.number}", f"Which outsiders?{heard}"]
    return Reply.json({"question": questions[0], "queries": questions, "questions": questions})


ALL = [*(name for name in STRATEGIES if name != "level"), "level:searchers=dense+bridged", "level:searchers=bridged"]
DRAWING = {"auto", "ircot", "iter_retgen", "level", "par", "plan_star", "react", "resp", "rq_rag"}
"""Those that search again with what they found: they do so here."""
OPTIONS = ["par:review_rounds=2", "decompose:retrieve=node", "plan_star:solver=self_rag", "auto:values=3", "react:k=3"]


@pytest.mark.parametrize("strategy", [*ALL, *OPTIONS])
async def test_what_was_drawn_from_a_passage_stays_at_home(server: ChatServer, strategy: str) -> None:
    server.respond = gossip
    desk = ReasoningDesk(server, DOCUMENTS, web_configured=False)
    await desk.ask(strategy, QUESTION, web=True)
    leaving = [query.text for _, query in desk.searched if not query.private]
    assert not [text for text in leaving if DRAWN in text]
    if strategy.partition(":")[0] in DRAWING:
        assert any(DRAWN in query.text for _, query in desk.searched)


@pytest.mark.parametrize("strategy", ALL)
async def test_an_earlier_answer_stays_at_home(server: ChatServer, strategy: str) -> None:
    server.respond = gossip
    desk = ReasoningDesk(server, DOCUMENTS)
    history = (Message(speaker=Speaker.ASSISTANT, content=f"It was {DRAWN}."),)
    await desk.ask(strategy, QUESTION, web=True, history=history)
    assert {query.text for _, query in desk.searched if not query.private} <= {QUESTION}
