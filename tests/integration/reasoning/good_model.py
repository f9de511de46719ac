"""A model that does every role's work well over what it is shown, so that a test has to script its fault alone."""

import re
from collections.abc import Callable
from typing import Any

from core.strategies import describe
from reasoning import REASONERS
from tests.twins.chat_server import Call, ChatServer, Reply

__all__ = ["LAST", "STRATEGIES", "good_model", "of_role", "prompt_of", "roles"]

_LAST_OTHERWISE = {"react": "next_thought", "self_rag": "critique", "auto": "settle_or_plan"}
_REASONERS = describe(REASONERS, "reasoner")
LAST = {one["name"]: _LAST_OTHERWISE.get(one["name"], "conclude") for one in _REASONERS if one["needs_model"]}
"""The role of each strategy's last call."""
STRATEGIES = tuple(LAST)

_PASSAGE = re.compile(r'<passage n="(\d+)" title="[^"]*">\n(.*?)\n</passage>', re.DOTALL)


def good_model(answer: str, asked: str) -> Callable[[Call], Reply]:
    """It plans one step that asks `asked`, and answers `answer`, citing the first passage that holds it."""

    def respond(call: Call) -> Reply:
        passages = _PASSAGE.findall(call.text)
        number = next((int(n) for n, text in passages if answer in text), 0)
        if call.role == "conclude":
            return _concluded(call, answer, number)
        value = _SAID[call.role](answer, asked, number)
        return Reply.json(_searching(asked) if call.role == "next_thought" and not number else value)

    return respond


def prompt_of(call: Call) -> str:
    """What stands below the instructions."""
    return call.messages[-1]["content"]


def roles(server: ChatServer) -> list[str]:
    """The roles of all calls, in their order."""
    return [call.role for call in server.calls]


def of_role(server: ChatServer, role: str) -> list[Call]:
    return [call for call in server.calls if call.role == role]


def _concluded(call: Call, answer: str, number: int) -> Reply:
    numbered = r"(?:\[|Context )(\d+)|Step (\d+)\nQuestion: .*\nAnswer: "
    quoted = re.search(rf"^(?:{numbered}).*{re.escape(answer)}", call.text, re.MULTILINE)
    cited = number or (int(quoted[1] or quoted[2]) if quoted else 0)
    text = f"{answer} [{cited}]" if cited else answer
    return Reply.json({"answer": text, "support": "stated" if cited else "inferred", "unstated": ""})


def _searching(asked: str) -> dict[str, Any]:
    return {"thought": "It has to be found.", "action": "search", "input": asked, "citations": []}


def _answered(answer: str, asked: str, number: int) -> dict[str, Any]:  # noqa: ARG001  # as all that are in the table
    found = {"answer": answer, "support": "stated", "unstated": "", "citations": [number]}
    return found if number else {"answer": "", "support": "none", "unstated": "the answer", "citations": []}


def _stepped(answer: str, asked: str, number: int) -> dict[str, Any]:
    if not number:
        return {"answers": [], "support": "none", "unstated": "the answer", "citations": [], "query": asked}
    citations = [{"passage": number, "quote": answer}]
    return {"answers": [answer], "support": "stated", "unstated": "", "citations": citations, "query": ""}


def _settled(answer: str, asked: str, number: int) -> dict[str, Any]:
    if number:
        citations = [{"passage": number, "quote": answer}]
        return {"reasoning": "", "settled": True, "answer": answer, "citations": citations, "steps": []}
    steps = [{"id": "Q1.1", "question": asked, "answer": "", "citations": []}]
    return {"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": steps}


_SAID: dict[str, Callable[[str, str, int], dict[str, Any]]] = {
    "plan": lambda _, asked, __: {"steps": [{"thought": "", "question": asked, "action": "Retrieve"}]},
    "decide_document": lambda answer, _, __: {
        "sentence": answer,
        "verdict": "unclear",
        "documents": [{"document": 1, "sentence": answer, "verdict": "unclear"}],
    },
    "plan_dag": lambda _, asked, __: {"nodes": [{"id": "Q1.1", "question": asked}]},
    "settle_or_plan": _settled,
    "split_question": lambda _, asked, __: {"questions": [asked]},
    "split_intents": lambda _, asked, __: {"queries": [asked]},
    "atomic_queries": lambda _, asked, __: {"queries": [asked]},
    "denoise": lambda _, asked, __: {"question": asked},
    "next_queries": lambda _, asked, number: {
        "moves": [{"kind": "answer", "query": ""} if number else {"kind": "rewrite", "query": asked}]
    },
    "need_retrieval": lambda _, __, ___: {"retrieve": True},
    "pseudo_document": lambda answer, _, __: {"passage": f"The answer is {answer}."},
    "query_entities": lambda answer, _, __: {"entities": [answer]},
    "rewrite_keywords": lambda _, asked, __: {"keywords": [asked]},
    "verify": lambda _, __, ___: {"enough": True},
    "refine_query": lambda _, asked, __: {"extend": asked[:100], "emphasize": "", "filter": ""},
    "extend_query": lambda _, asked, __: {"keyword": asked[:100]},
    "emphasize_query": lambda _, __, ___: {"keyword": ""},
    "filter_query": lambda _, __, ___: {"keyword": ""},
    "supplement": lambda _, __, ___: {"queries": []},
    "critique": lambda _, __, ___: {"relevant": True, "support": "full", "usefulness": 5},
    "review": lambda _, __, ___: {"status": "PASS", "answer": "", "citations": [], "question": ""},
    "answer": _answered,
    "answer_step": _stepped,
    "summarize": lambda answer, asked, number: {
        **{key: value for key, value in _answered(answer, asked, number).items() if key != "answer"},
        "summary": f"The answer is {answer}.",
    },
    "next_sentence": lambda answer, asked, number: {
        **{key: value for key, value in _answered(answer, asked, number).items() if key != "answer"},
        "kind": "answer",
        "sentence": f"The answer is {answer}." if number else "",
    },
    "next_thought": lambda answer, _, number: {
        "thought": "It is found.",
        "action": "finish",
        "input": answer,
        "support": "stated",
        "unstated": "",
        "citations": [number],
    },
}
