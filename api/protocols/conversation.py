"""`Conversation`: the messages of a chat client as instructions, history and the last question."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.protocols.sources import shorten_sources
from core.errors import InvalidInput
from core.ports.chat import Message, Speaker

__all__ = ["Conversation", "read_conversation"]

_MAX_HISTORY = 60_000
"""In characters. Chat clients send the whole conversation every time; the oldest turns beyond are left out."""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """`messages` are all messages as they were sent, for a model that gets them unchanged."""

    instructions: str
    history: tuple[Message, ...]
    question: str
    messages: tuple[Message, ...]


def read_conversation(messages: Sequence[Message]) -> Conversation:
    """Returns the parts of a conversation. Messages of the system become instructions, wherever they are.

    Of the blocks of sources, which this server appends to its answers, the history has the titles. Raises
    `InvalidInput` if the last message is not the user's.
    """
    turns = [message for message in messages if message.speaker is not Speaker.SYSTEM]
    if not turns or turns[-1].speaker is not Speaker.USER:
        raise InvalidInput("the last of `messages` is not a message of the user; end them with the question")
    instructions = [message.content.strip() for message in messages if message.speaker is Speaker.SYSTEM]
    return Conversation(
        instructions="\n\n".join(part for part in instructions if part),
        history=_keep_last([_with_titles(turn) for turn in turns[:-1] if turn.content.strip()]),
        question=turns[-1].content,
        messages=tuple(messages),
    )


def _with_titles(turn: Message) -> Message:
    if turn.speaker is not Speaker.ASSISTANT:
        return turn
    return Message(speaker=turn.speaker, content=shorten_sources(turn.content))


def _keep_last(turns: Sequence[Message]) -> tuple[Message, ...]:
    kept: list[Message] = []
    left = _MAX_HISTORY
    for turn in reversed(turns):
        left -= len(turn.content)
        if left < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
