"""Retrieval success counts evidence alone: a question that holds its own answer succeeds with no reasoner."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core import strategies
from core.ports.reasoning import Answer, Unsupported
from evaluation import AnswerRow, GoldQuestion
from evaluation.rows.scored_answers import score_answer
from reasoning import REASONERS
from tests.integration.reasoning.good_model import good_model
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "Which film came out first, Alien or Jaws?"
PARTS = ("When did the film Alien come out?", "When did the film Jaws come out?")
GOLD = GoldQuestion(id="films", text=QUESTION, answer="Jaws", aliases=(), supporting=frozenset())
BREAD = {
    "rye": ("Rye bread", "Rye bread came first to the north. It is baked from sourdough."),
    "loaf": ("Loaf", "The first loaf of the day came out of the oven at dawn."),
}
WITH_OPTIONS = (
    "level:summarize=false",
    "level:high_level=false",
    "level:verify=merged",
    "plan_star:solver=self_rag",
    "plan_star:retrieve=query,conclude_from=sinks",
    "decompose:retrieve=node",
    "par:fill_gaps=false",
    "omni:paths=3",
    "ircot:reader=direct",
    "self_rag:retrieve=always",
    "auto:retrieve=adaptive",
)

_UNFOUND = "could not be found"
_SAYS_NOTHING: dict[str, Any] = {"support": "none", "unstated": "when the films came out", "citations": []}
_PLANS: dict[str, dict[str, Any]] = {
    "plan": {"steps": [{"thought": "", "question": part, "action": "Retrieve"} for part in PARTS]},
    "plan_dag": {"nodes": [{"id": f"Q1.{place}", "question": part} for place, part in enumerate(PARTS, start=1)]},
    "split_question": {"questions": list(PARTS)},
    "split_intents": {"queries": list(PARTS)},
    "atomic_queries": {"queries": list(PARTS)},
}


def ignorant_model(said: str, *, support: str = "none") -> Callable[[Call], Reply]:
    """It plans well, repeats the question where it can, and says `said` where it is asked for an answer."""
    otherwise = good_model(said, QUESTION)
    fields = {**_SAYS_NOTHING, "support": support}
    roles: dict[str, dict[str, Any]] = {
        **_PLANS,
        "conclude": {"answer": said, "thoughts": QUESTION, **fields},
        "answer": {"answer": said, "statement": "", **fields},
        "answer_step": {"answers": [said] if said else [], "query": QUESTION, **fields},
        "refine": {"question": PARTS[1]},
        "verify": {"enough": False},
        "review": {"status": "UNCONFIDENT", "answer": "", "citations": [], "question": PARTS[1]},
        "critique": {"relevant": False, "support": "none", "usefulness": 1},
        "supplement": {"queries": [f"Jaws or Alien: {QUESTION}"]},
        "next_sentence": {"kind": "need", "sentence": f"It has to be found: {QUESTION}", **_SAYS_NOTHING},
        "summarize": {"summary": f"Which film came out first, Alien or Jaws, {_UNFOUND}.", **fields},
    }

    def respond(call: Call) -> Reply:
        if call.role == "summarize" and support == "memory":
            return Reply.json({"summary": f"{said} came out first.", **fields})
        return Reply.json(roles[call.role]) if call.role in roles else otherwise(call)

    return respond


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as scripted:
        yield scripted


@pytest.fixture
def desk(server: ChatServer) -> ReasoningDesk:
    return ReasoningDesk(server, BREAD)


async def ask(desk: ReasoningDesk, reasoner: str, unsupported: Unsupported) -> tuple[Answer, AnswerRow]:
    answer, trace = await desk.ask(reasoner, QUESTION, unsupported=unsupported)
    return answer, score_answer(GOLD, reasoner, answer, seconds=1.0, trace=trace)


@pytest.mark.parametrize(
    ("said", "support", "unsupported"),
    [("", "none", Unsupported.INFER), ("I don't know", "inferred", Unsupported.MEMORY)],
)
@pytest.mark.parametrize("reasoner", [*sorted(strategies.list_names(REASONERS)), *WITH_OPTIONS])
async def test_a_corpus_without_the_answer_is_no_success_however_often_the_question_is_repeated(
    server: ChatServer, desk: ReasoningDesk, reasoner: str, said: str, support: str, unsupported: Unsupported
) -> None:
    server.respond = ignorant_model(said, support=support)
    answer, row = await ask(desk, reasoner, unsupported)
    assert "Jaws" not in answer.text
    assert (row.scores["succ"], row.scores["succ_retrieved"]) == (0.0, 0.0)
    assert not any("Jaws" in text for text in row.shown)


@pytest.mark.parametrize("reasoner", [*sorted(strategies.list_names(REASONERS)), *WITH_OPTIONS])
async def test_what_a_model_remembers_is_found_nowhere_but_in_the_summaries_of_level(
    server: ChatServer, desk: ReasoningDesk, reasoner: str
) -> None:
    """LevelRAG's authors measure success in its summaries, which may come from the model's memory."""
    server.respond = ignorant_model("Jaws", support="memory")
    _, row = await ask(desk, reasoner, Unsupported.MEMORY)
    summarizes = reasoner in ("level", "level:verify=merged")
    assert row.scores["succ"] == float(summarizes)
    assert row.scores["succ_retrieved"] == 0.0
