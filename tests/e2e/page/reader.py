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
_HELD_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Known:
    """The answer of a question, given only where the quote stands in a passage of the call."""

    answer: str
    quote: str


@dataclass(kw_only=True)
class Reader:
    """Replies to the calls of `auto` (`ChatServer(respond=reader)`).

    `plans` has the steps of a question as (id, question). `known` has answers by question, of steps too. Any other
    question is answered with the first sentence of the first passage. While `held()`, no call is answered; `failures`
    are given before any answer.
    """

    plans: dict[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    failures: list[Reply] = field(default_factory=list)
    _free: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._free.set()

    def __call__(self, call: Call) -> Reply:
        self._free.wait(_HELD_SECONDS)
        if self.failures:
            return self.failures.pop(0)
        match call.role:
            case "settle_or_plan":
                return self._settle_or_plan(call)
            case "answer_step":
                return self._answer_step(call)
            case _:
                return self._conclude(call)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Calls wait until the end of the block."""
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
        """Also for roles that have a reply of this form."""
        asked = call.labels.get("asked", call.question)
        found = self.known.get(call.question) or self.known.get(asked)
        quoted = found is not None and found.quote in call.text
        marked = f"{found.answer} [1]" if found is not None and quoted else ""
        answer = marked or next((f"{text} [1]" for text in self._first_sentences(call)), "")
        support = "stated" if answer else "none"
        return Reply.json({"answer": answer, "support": support, "unstated": "" if answer else "the answer"})

    def _find(self, call: Call) -> tuple[str, list[Mapping[str, object]]]:
        known = self.known.get(call.question)
        if known is None:
            first = next(iter(self._first_sentences(call)), "")
            return first, [{"passage": 1, "quote": first}] if first else []
        for number, text in _PASSAGE.findall(call.text):
            if known.quote in " ".join(text.split()):
                return known.answer, [{"passage": int(number), "quote": known.quote}]
        return "", []

    def _first_sentences(self, call: Call) -> list[str]:
        texts = [" ".join(text.split()) for _, text in _PASSAGE.findall(call.text)]
        return [text[start:end] for text in texts[:1] for start, end in split_sentences(text)[:1]]
