"""Searches for the last question of each conversation in four forms, and counts what restating it costs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from api.protocols.conversation import Conversation, read_conversation
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.ports.chat import ChatRequest, Completion, Message, OnToken, Speaker
from core.ports.reasoning import Question
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from reasoning import restate
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["Asked", "checks", "measure", "read_conversations", "table"]

Row = Mapping[str, Any]

_FILE = Path(__file__).with_name("conversations.jsonl")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A conversation over a dataset. `changes`: its last question needs the conversation. `held_out`: the prompt was
    not changed after it was read. `supporting` is empty if nothing answers the last message.
    """

    id: str
    dataset: str
    conversation: Conversation
    restated: str
    supporting: frozenset[str]
    changes: bool
    held_out: bool

    @property
    def forms(self) -> Mapping[str, str]:
        """The texts that could be searched for, by name."""
        last, history = self.conversation.question, self.conversation.history
        users = [turn.content for turn in history if turn.speaker is Speaker.USER]
        answers = [turn.content for turn in history if turn.speaker is Speaker.ASSISTANT]
        return {
            "last": last,
            "previous_and_last": f"{users[-1]} {last}",
            "previous_answer_and_last": f"{users[-1]} {answers[-1][:2000]} {last}",
            "restated": self.restated,
        }


def read_conversations(datasets: Path) -> list[Asked]:
    """Returns the conversations in the order of the file. A long answer is filled up with passages of its dataset."""
    rows = _read_lines(_FILE)
    passages = {name: _read_lines(datasets / name / "corpus.jsonl") for name in {row["dataset"] for row in rows}}
    return [_read(row, passages) for row in rows]


def _read_lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _read(row: Row, passages: Mapping[str, Sequence[Row]]) -> Asked:
    turns = [
        Message(speaker=Speaker(turn["speaker"]), content=_fill(turn, passages[row["dataset"]]))
        for turn in row["turns"]
    ]
    last = Message(speaker=Speaker.USER, content=row["question"])
    return Asked(
        id=row["id"],
        dataset=row["dataset"],
        conversation=read_conversation([*turns, last]),
        restated=row["restated"],
        supporting=frozenset(row["supporting"]),
        changes=row["expected"] != "=",
        held_out=row["held_out"],
    )


def _fill(turn: Row, passages: Sequence[Row]) -> str:
    """Returns the content of a turn; with `padding`, followed by passages from one on, up to a number of characters."""
    text: str = turn["content"]
    padding = turn.get("padding")
    if not padding:
        return text
    start = next(at for at, one in enumerate(passages) if one["id"] == padding["from"])
    for one in passages[start:]:
        if len(text) >= padding["characters"]:
            break
        text += f"\n\n{one['text']}"
    return text


_SEARCHERS = ("dense", "fused", "bridged")
_K = 5
_GROUPS = ("all", "change", "held_out")
_FORMS = {
    "last": "the last message",
    "previous_and_last": "with the question before it",
    "previous_answer_and_last": "with question and answer before it",
    "restated": "restated",
}
_TOKEN = 4
"""Characters of a token, roughly."""


@dataclass
class _Reader:
    """Implements `ChatModels` by a restatement that a reader gave, and counts the tokens of the prompt."""

    reply: str
    prompts: list[int]
    model: str = "reader"

    def of(self, role: str) -> "_Reader":
        return self

    def is_small(self, role: str) -> bool:
        return False

    async def complete(self, request: ChatRequest, trace: Trace, on_token: OnToken | None = None) -> Completion:
        text = json.dumps({"question": self.reply}, ensure_ascii=False)
        tokens = sum(len(message.content) for message in request.messages) // _TOKEN
        self.prompts.append(tokens)
        return Completion(text=text, model=self.model, prompt_tokens=tokens, completion_tokens=len(text) // _TOKEN)

    async def delete_corpus(self, corpus_id: str) -> None: ...

    async def close(self) -> None: ...


async def measure(datasets: Path) -> dict[str, Any]:
    """Recall at 5 by searcher, form and group, and the tokens of a call."""
    conversations = read_conversations(datasets)
    async with workshop() as shop:
        names = sorted({one.dataset for one in conversations})
        corpora = {name: (await shop.ingest(read_dataset(datasets / name)))[0] for name in names}
        prompts, refused = await _restate(shop, conversations, corpora)
        return {
            "conversations": len(conversations),
            "refused": refused,
            "prompt_tokens": {"median": median(prompts), "mean": mean(prompts), "most": max(prompts)},
            "recall@5": await _search(shop, [one for one in conversations if one.supporting], corpora),
        }


def checks(report: dict[str, Any]) -> list[Check]:
    recall = report["recall@5"]
    return [
        *(figure(f"conversations: R@5 {name}, restated", recall[name]["all"]["restated"]) for name in _SEARCHERS),
        *(
            at_least(
                f"conversations: R@5 {name}, restated beyond the best other form",
                recall[name]["all"]["restated"]
                - max(recall[name]["all"][form] for form in _FORMS if form != "restated"),
                0,
            )
            for name in _SEARCHERS
        ),
        at_most("conversations: restatements that were refused", report["refused"], 0),
        at_most("conversations: most tokens of a prompt", report["prompt_tokens"]["most"], 3000),
    ]


def _lead(forms: dict[str, float]) -> float:
    return forms["restated"] - max(value for form, value in forms.items() if form != "restated")


def table(report: dict[str, Any]) -> str:
    """Returns R@5 in percent: all conversations, those whose question needs the conversation, those held out."""
    lines = ["| searched for | " + " | ".join(_SEARCHERS) + " |", "| --- |" + " ---: |" * len(_SEARCHERS)]
    for form, title in _FORMS.items():
        cells = []
        for name in _SEARCHERS:
            row = report["recall@5"][name]
            cells.append(" / ".join(f"{100 * row[group][form]:.0f}" for group in _GROUPS))
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


async def _restate(shop: Workshop, conversations: Sequence[Asked], corpora: dict[str, Corpus]) -> tuple[list[int], int]:
    """Returns the tokens of the prompts, and how many restatements were not taken."""
    prompts, refused = list[int](), 0
    searcher = ("fused", shop.container.searcher(parse_spec("fused")))
    for one in conversations:
        talk = one.conversation
        question = Question(corpus=corpora[one.dataset], text=talk.question, history=talk.history)
        refused += await restate(question, _Reader(one.restated, prompts), searcher, Trace()) != one.restated
    return prompts, refused


async def _search(shop: Workshop, conversations: Sequence[Asked], corpora: dict[str, Corpus]) -> dict[str, Any]:
    found: dict[str, dict[str, dict[str, list[float]]]] = {
        name: {group: {form: [] for form in _FORMS} for group in _GROUPS} for name in _SEARCHERS
    }
    for one in conversations:
        groups = ["all", *(["change"] if one.changes else []), *(["held_out"] if one.held_out else [])]
        for form, text in one.forms.items():
            for name in _SEARCHERS:
                request = SearchRequest(query=text, searcher=parse_spec(name), k=_K)
                result = await search(shop.container, corpora[one.dataset], request, Trace())
                keys = {hit.document.key for hit in result.hits}
                for group in groups:
                    found[name][group][form].append(len(keys & one.supporting) / len(one.supporting))
    return {
        name: {group: {form: mean(values) for form, values in forms.items()} for group, forms in by_group.items()}
        for name, by_group in found.items()
    }
