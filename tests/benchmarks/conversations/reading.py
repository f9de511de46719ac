"""The conversations of the file, and the calls that the chat routes make of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.protocols.conversation import Conversation, read_conversation
from core.ports.chat import Message, Speaker

__all__ = ["Asked", "read_conversations"]

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
