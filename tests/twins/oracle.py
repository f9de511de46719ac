"""A model that knows the gold decomposition of MuSiQue's questions, and answers only from what it is shown.

It plans with the gold hops, fills their `#k`, and answers a hop with the gold answer only if that hop's supporting
passage is among the passages of the call; else it says that they do not suffice. So it measures what retrieval and
orchestration lose, not what a language model can do. It knows a call by its role, its question and the keys of its
passages, which are sent along as metadata, never by the wording of a prompt.

With an error rate it errs as readers do: it overlooks what a passage holds, takes a name from another passage, and
reviews wrongly. So a curve over the rate shows how much an error costs.
"""

import random
import re
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.text.answers import is_contained
from core.text.name_spans import find_names
from core.text.sentences import split_sentences
from tests.twins.chat_script import Call, Reply

__all__ = ["GoldHop", "Oracle"]

_PLACE = re.compile(r"#(\d+)")
_PASSAGE = re.compile(r'<passage n="(\d+)"[^>]*>\n(.*?)\n</passage>', re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class GoldHop:
    """`question` may hold `#k` for the answer of hop k, from 1; `supporting` is the key of the one passage."""

    question: str
    answer: str
    supporting: str

    @property
    def parents(self) -> list[int]:
        """Indices from 0."""
        return [int(k) - 1 for k in dict.fromkeys(_PLACE.findall(self.question))]


class Oracle:
    """Answers calls of `ChatServer(respond=oracle)`.

    `found` are, by question, the hops whose passage was shown; `passages` is how many different ones were. An error is
    drawn for each call from the seed and what is asked and shown, so that a run can be repeated.
    """

    def __init__(self, questions: Mapping[str, Sequence[GoldHop]], error_rate: float = 0.0, seed: int = 0) -> None:
        self._hops = questions
        self._error_rate = error_rate
        self._seed = seed
        self._lock = threading.Lock()
        self.found: defaultdict[str, set[int]] = defaultdict(set)
        self.passages: defaultdict[str, set[str]] = defaultdict(set)
        self._given: set[tuple[str, str]] = set()

    def __call__(self, call: Call) -> Reply:
        """Raises `KeyError` for a role or a question that it does not know."""
        asked = call.labels["asked"]
        with self._lock:
            shown = call.labels.get("passages", "").split()
            self.passages[asked].update(shown)
            self.found[asked] |= {n for n, hop in enumerate(self._hops[asked]) if hop.supporting in shown}
            return _ROLES[call.role](self, call, asked)

    def forget(self, asked: str) -> None:
        """Forgets what was answered for a question, which is about to be asked again."""
        with self._lock:
            self._given = {one for one in self._given if one[0] != asked}

    def _plan(self, call: Call, asked: str) -> Reply:
        steps = [{"thought": "", "question": hop.question, "action": "Retrieve"} for hop in self._hops[asked]]
        return Reply.json({"steps": steps})

    def _plan_dag(self, call: Call, asked: str) -> Reply:
        return Reply.json({"nodes": self._nodes(asked)})

    def _settle_or_plan(self, call: Call, asked: str) -> Reply:
        """Settles if the passages of all hops are shown; else plans, with the hops that are stated already."""
        hops, keys = self._hops[asked], call.labels.get("passages", "").split()
        error = self._draw(call)
        overlooked = set(range(len(hops))) if error == _OVERLOOKS else set[int]()
        stated = {n for n, hop in enumerate(hops) if hop.supporting in keys} - overlooked
        if len(stated) == len(hops):
            answer = self._stray_name(call, asked) if error == _CONFUSES else hops[-1].answer
            citations = [{"passage": 1 + keys.index(hop.supporting), "quote": ""} for hop in hops]
            return Reply.json({"reasoning": "", "settled": True, "answer": answer, "citations": citations, "steps": []})
        steps: list[dict[str, Any]] = []
        known: set[int] = set()
        for n, (hop, node) in enumerate(zip(hops, self._nodes(asked), strict=True)):
            if n in stated and known.issuperset(hop.parents):
                known.add(n)
                self._given.add((asked, _full(hops, hop)))
                citation = {"passage": 1 + keys.index(hop.supporting), "quote": ""}
                steps.append({**node, "answer": hop.answer, "citations": [citation]})
            else:
                steps.append({**node, "answer": "", "citations": []})
        return Reply.json({"reasoning": "", "settled": False, "answer": "", "citations": [], "steps": steps})

    def _nodes(self, asked: str) -> list[dict[str, str]]:
        ids: list[str] = []
        for hop in self._hops[asked]:
            depth = 1 + max((int(ids[parent][1:].split(".")[0]) for parent in hop.parents), default=0)
            ids.append(f"Q{depth}.{1 + sum(id.startswith(f'Q{depth}.') for id in ids)}")

        def tag(found: re.Match[str]) -> str:
            return f"<A{ids[int(found[1]) - 1][1:]}>"

        return [
            {"id": id, "question": _PLACE.sub(tag, hop.question)}
            for id, hop in zip(ids, self._hops[asked], strict=True)
        ]

    def _fill(self, call: Call, asked: str) -> Reply:
        """With the answers that stand in the call; what is not there stays open, so that its hop cannot be answered."""
        hops = self._hops[asked]
        templates = [hop.question for hop in hops]
        tagged = [node["question"] for node in self._nodes(asked)]
        place = (templates if call.role == "refine" else tagged).index(call.question)

        def known(found: re.Match[str]) -> str:
            gold = hops[int(found[1]) - 1].answer
            return gold if is_contained(gold, call.text) else "something unknown"

        return Reply.json({"question": _PLACE.sub(known, templates[place])})

    def _answer(self, call: Call, asked: str) -> Reply:
        hop, number, passage = self._held(call, asked)
        error = self._draw(call)
        if hop is None or error == _OVERLOOKS:
            return Reply.json(_said(call.role, "", "none", 0, ""))
        answer = self._stray_name(call, asked) if error == _CONFUSES else hop.answer
        if error != _CONFUSES:
            self._given.add((asked, call.question))
        return Reply.json(_said(call.role, answer, "stated", number, _sentence(passage, answer)))

    def _review(self, call: Call, asked: str) -> Reply:
        hop, number, _ = self._held(call, asked)
        error = self._draw(call)
        if error == _OVERLOOKS:
            return Reply.json({"status": "UNCONFIDENT", "question": call.question})
        if error == _CONFUSES:
            self._given.discard((asked, call.question))
            return Reply.json({"status": "REVISED", "answer": self._stray_name(call, asked), "citations": [1]})
        if (asked, call.question) in self._given:
            return Reply.json({"status": "PASS"})
        if hop is None:
            return Reply.json({"status": "UNCONFIDENT", "question": call.question})
        self._given.add((asked, call.question))
        return Reply.json({"status": "REVISED", "answer": hop.answer, "citations": [number]})

    def _draw(self, call: Call) -> str:
        """The error of a call, or ''."""
        key = f"{self._seed}|{call.role}|{call.labels['asked']}|{call.question}|{call.labels.get('passages', '')}"
        draw = random.Random(key)  # not for secrets
        return draw.choice((_OVERLOOKS, _CONFUSES)) if draw.random() < self._error_rate else ""

    def _stray_name(self, call: Call, asked: str) -> str:
        """A name out of the passages that is none of the gold answers."""
        gold = {hop.answer for hop in self._hops[asked]}
        names = [name.form for _, text in _PASSAGE.findall(call.text) for name in find_names(text)]
        return next((name for name in reversed(names) if name not in gold), "somebody else")

    def _held(self, call: Call, asked: str) -> tuple[GoldHop | None, int, str]:
        """The hop that a call asks for, if its passage is shown: with the passage's number and text, the one of its
        chunks that holds the answer where one does.
        """
        hops = self._hops[asked]
        keys = call.labels.get("passages", "").split()
        texts = {int(number): text for number, text in _PASSAGE.findall(call.text)}
        for hop in hops:
            numbers = [n for n, key in enumerate(keys, start=1) if key == hop.supporting and n in texts]
            if _same(_full(hops, hop), call.question) and numbers:
                best = max(numbers, key=lambda n, hop=hop: is_contained(hop.answer, texts[n]))  # type: ignore[misc]
                return hop, best, texts[best]
        return None, 0, ""

    def _entities(self, call: Call, asked: str) -> Reply:
        return Reply.json({"entities": [name.form for name in find_names(call.question)] or [call.question]})

    def _conclude(self, call: Call, asked: str) -> Reply:
        """From passages: if those of all hops are shown. From steps: if the last hop's answer stands among them."""
        hops = self._hops[asked]
        keys = set(call.labels.get("passages", "").split())
        answered = any(one == asked and _same(question, _full(hops, hops[-1])) for one, question in self._given)
        held = answered and is_contained(hops[-1].answer, call.text)
        held = held or (bool(keys) and keys.issuperset(hop.supporting for hop in hops))
        error = self._draw(call)
        if not held or error == _OVERLOOKS:
            return Reply.json({"answer": "", "support": "none", "unstated": "the answer"})
        answer = self._stray_name(call, asked) if error == _CONFUSES else hops[-1].answer
        return Reply.json({"answer": f"{answer} [1]", "support": "stated", "unstated": ""})


_OVERLOOKS = "overlooks"
_CONFUSES = "confuses"

_ROLES = {
    "plan": Oracle._plan,
    "plan_dag": Oracle._plan_dag,
    "settle_or_plan": Oracle._settle_or_plan,
    "refine": Oracle._fill,
    "fill_tags": Oracle._fill,
    "answer": Oracle._answer,
    "answer_step": Oracle._answer,
    "review": Oracle._review,
    "query_entities": Oracle._entities,
    "conclude": Oracle._conclude,
}


def _said(role: str, answer: str, support: str, number: int, quote: str) -> dict[str, Any]:
    """The reply of an answering role."""
    unstated = "" if answer else "the answer"
    if role == "answer_step":
        citations = [{"passage": number, "quote": quote}] if answer else []
        answers = [answer] if answer else []
        return {"answers": answers, "support": support, "unstated": unstated, "citations": citations, "query": ""}
    return {"answer": answer, "support": support, "unstated": unstated, "citations": [number] if answer else []}


def _sentence(passage: str, answer: str) -> str:
    """The first sentence of the passage that holds the answer, else its first."""
    cut = [passage[start:end] for start, end in split_sentences(passage)]
    return next((one for one in cut if is_contained(answer, one)), cut[0])


def _full(hops: Sequence[GoldHop], hop: GoldHop) -> str:
    """The hop's question with the gold answers in their places."""
    return _PLACE.sub(lambda found: hops[int(found[1]) - 1].answer, hop.question)


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())
