"""A model that does every role's work well over what it is shown, so that a test has to script its fault alone."""

import re
from collections.abc import Callable
from typing import Any

from core.strategies import describe
from reasoning import REASONERS
from tests.twins.chat_server import Call, Reply

__all__ = ["LAST", "STRATEGIES", "good_model", "prompt_of"]

_LAST_OTHERWISE = {"react": "next_thought", "self_rag": "critique", "auto": "answer_node"}
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
        if call.role in {"next_sentence", "pseudo_document"}:
            return Reply(text=f"So the answer is: {answer}.")
        value = _SAID[call.role](answer, asked, number)
        return Reply.json(_searching(asked) if call.role == "next_thought" and not number else value)

    return respond


def prompt_of(call: Call) -> str:
    """What stands below the instructions."""
    return call.messages[-1]["content"]


def _concluded(call: Call, answer: str, number: int) -> Reply:
    quoted = re.search(rf"^\[(\d+)\].*{re.escape(answer)}", call.text, re.MULTILINE)
    cited = number or (int(quoted[1]) if quoted else 0)
    text = f"{answer} [{cited}]" if cited else answer
    return Reply(text=f"It is said so.\nAnswer: {text}" if '"Answer:"' in call.text else text)


def _searching(asked: str) -> dict[str, Any]:
    return {"thought": "It has to be found.", "action": "search", "input": asked, "citations": []}


def _answered(answer: str, asked: str, number: int) -> dict[str, Any]:  # noqa: ARG001  # as all that are in the table
    return {"sufficient": bool(number), "answer": answer if number else "", "citations": [number] if number else []}


_SAID: dict[str, Callable[[str, str, int], dict[str, Any]]] = {
    "plan": lambda _, asked, __: {"steps": [{"thought": "", "question": asked, "action": "Retrieve"}]},
    "plan_dag": lambda _, asked, __: {"nodes": [{"id": "Q1.1", "question": asked}]},
    "plan_auto": lambda _, asked, __: {
        "question": asked,
        "needs_retrieval": True,
        "steps": [{"id": "Q1.1", "question": asked}],
        "intents": [],
    },
    "split_question": lambda _, asked, __: {"questions": [asked]},
    "split_intents": lambda _, asked, __: {"queries": [asked]},
    "atomic_queries": lambda _, asked, __: {"queries": [asked]},
    "denoise": lambda _, asked, __: {"question": asked},
    "need_retrieval": lambda _, __, ___: {"retrieve": True},
    "query_entities": lambda answer, _, __: {"entities": [answer]},
    "rewrite_keywords": lambda _, asked, __: {"keywords": [asked]},
    "verify": lambda _, __, ___: {"enough": True},
    "refine_query": lambda _, asked, __: {"extend": asked[:100], "emphasize": "", "filter": ""},
    "supplement": lambda _, __, ___: {"queries": []},
    "critique": lambda _, __, ___: {"relevant": True, "support": "full", "usefulness": 5},
    "review": lambda _, __, ___: {"status": "PASS", "answer": "", "citations": [], "question": ""},
    "answer": _answered,
    "answer_node": lambda answer, asked, number: {
        **_answered(answer, asked, number),
        "citations": [{"passage": number, "quote": answer}] if number else [],
    },
    "summarize": lambda answer, asked, number: {
        "sufficient": bool(number),
        "summary": f"The answer is {answer}.",
        "citations": _answered(answer, asked, number)["citations"],
    },
    "next_thought": lambda answer, _, number: {
        "thought": "It is found.",
        "action": "finish",
        "input": answer,
        "citations": [number],
    },
}
