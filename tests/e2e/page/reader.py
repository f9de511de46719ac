"""`Reader`: a language model with a script, which plans some questions, and answers from the passages it is shown."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.text.sentences import split_sentences
from tests.twins.chat_server import Call, Reply

__all__ = ["Known", "Reader"]

_PASSAGE = re.compile(r'<passage n="(\d+)"[^>]*>\n(.*?)\n</passage>', re.DOTALL)
_MARKED = re.compile(r"\[\[(.+?)\]\]")
_HELD_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Known:
    """The answer of a question, given only where the quote stands in the call. `[[words]]` in it becomes the number of
    the passage that has these words.
    """

    answer: str
    quote: str


@dataclass(kw_only=True)
class Reader:
    """Replies to the calls of `auto` (`ChatServer(respond=reader)`).

    `plans` has the steps of a question as (id, question). `known` has answers by question, of steps too. Any other
    question is answered with the first sentence of the first passage, and the only name of any passage is Ada. While
    `held()`, no call is answered; `failures` are given before any answer. `restated` has what questions of a
    conversation mean; any other means what it says.
    """

    plans: dict[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    failures: list[Reply] = field(default_factory=list)
    restated: dict[str, str] = field(default_factory=dict)
    _free: threading.Event = field(default_factory=threading.Event)
    _held: str = ""

    def __post_init__(self) -> None:
        self._free.set()

    def __call__(self, call: Call) -> Reply:
        if call.question.startswith(self._held):
            self._free.wait(_HELD_SECONDS)
        if self.failures:
            return self.failures.pop(0)
        match call.role:
            case "settle_or_plan":
                return self._settle_or_plan(call)
            case "answer_step":
                return self._answer_step(call)
            case "extract":
                return Reply.json({"entities": ["Ada"], "triples": []})
            case "same_answer":
                return Reply.json({"same": "no"})
            case "restate_question":
                return Reply.json({"question": self.restated.get(call.question, call.question)})
            case _:
                return self._conclude(call)

    @contextmanager
    def held(self, start: str = "") -> Iterator[None]:
        """Calls whose question begins so wait until the end of the block."""
        self._held = start
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def release(self) -> None:
        """Answers the calls that wait, within `held()`."""
        self._free.set()

    def _settle_or_plan(self, call: Call) -> Reply:
        steps = self.plans.get(call.question)
        if steps is not None:
            written = [{"id": id, "question": question, "answer": "", "citations": []} for id, question in steps]
            return Reply.json({"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": written})
        answer, citations = self._find(call)
        settled = bool(answer)
        return Reply.json({"reasoning": "", "settled": settled, "answer": answer, "citations": citations, "steps": []})

    def _answer_step(self, call: Call) -> Reply:
        answer, citations = self._find(call)
        support = "stated" if answer else "none"
        return Reply.json(
            {
                "answers": [answer] if answer else [],
                "support": support,
                "unstated": "" if answer else "the answer",
                "citations": citations,
                "query": "",
            }
        )

    def _conclude(self, call: Call) -> Reply:
        """Also for other roles whose reply has this form."""
        known = self.known.get(call.question) or self.known.get(call.labels.get("asked", ""))
        passages = _passages(call)
        if known is None:
            answer = next((f"{text} [1]" for text in self._first_sentences(call)), "")
        elif known.quote in _on_one_line(call.text):
            answer = _MARKED.sub(lambda found: f"[{_number(passages, found[1])}]", known.answer)
            answer = answer if answer != known.answer else f"{answer} [{_number(passages, known.quote) or 1}]"
        else:
            answer = ""
        support = "stated" if answer else "none"
        unstated = "" if answer else "the answer"
        return Reply.json({"reasoning": "", "answer": answer, "support": support, "unstated": unstated})

    def _find(self, call: Call) -> tuple[str, list[Mapping[str, object]]]:
        known = self.known.get(call.question)
        if known is None:
            first = next(iter(self._first_sentences(call)), "")
            return first, [{"passage": 1, "quote": first}] if first else []
        number = _number(_passages(call), known.quote)
        return (known.answer, [{"passage": number, "quote": known.quote}]) if number else ("", [])

    def _first_sentences(self, call: Call) -> list[str]:
        texts = list(_passages(call).values())
        return [text[start:end] for text in texts[:1] for start, end in split_sentences(text)[:1]]


def _passages(call: Call) -> dict[int, str]:
    return {int(number): _on_one_line(text) for number, text in _PASSAGE.findall(call.text)}


def _number(passages: Mapping[int, str], words: str) -> int:
    """The number of the first passage that has these words; 0 if none has."""
    return next((number for number, text in passages.items() if words in text), 0)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
