"""`Conversation`: the messages of a chat client as instructions, history and the last question.

OpenAI's and Ollama's clients send a message as a string, or as parts of text. Parameters that are ignored or refused
are declared, so that pages and tests can list them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from api.protocols.reply import shorten_sources
from api.schemas.base import In, LenientIn, Text
from core.errors import InvalidInput
from core.ports.chat import Message, Speaker

HONOURED = "honoured"
IGNORED = "ignored"
REFUSED = "refused"
_TREATMENT = "x-treatment"
_NOTHING: tuple[object, ...] = (None, False, "", [], {})


def ignored() -> Any:
    """Returns a field that is accepted and has no effect."""
    return Field(default=None, description="Ignored.", json_schema_extra={_TREATMENT: IGNORED})


def refused(why: str, *harmless: Any) -> Any:
    """Returns a field that is refused, with the reason, unless it has nothing to say, or one of the `harmless` values.

    It works in a `ProtocolIn`.
    """
    schema: dict[str, Any] = {_TREATMENT: REFUSED, "enum": [*_NOTHING, *harmless]}
    return Field(default=None, description=f"Refused: {why}.", json_schema_extra=schema)


def list_treatments(model: type[BaseModel]) -> dict[str, str]:
    """Returns for each field of a body whether it is honoured, ignored or refused."""
    found = {}
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        found[name] = str(extra.get(_TREATMENT, HONOURED)) if isinstance(extra, dict) else HONOURED
    return found


class ProtocolIn(In):
    """A body of another protocol. Parameters that the protocol does not have are errors, as in all bodies."""

    @field_validator("*", mode="before")
    @classmethod
    def _refuse(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields[info.field_name or ""]
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get(_TREATMENT) == REFUSED:
            allowed = extra["enum"]
            if isinstance(allowed, list) and not any(_is_same(value, one) for one in allowed):
                raise ValueError(str(field.description).removesuffix("."))
        return value


def _is_same(value: object, other: object) -> bool:
    """Returns whether JSON has them for the same: it tells 0 from false, which Python does not."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


_SPEAKERS = {
    "system": Speaker.SYSTEM,
    "developer": Speaker.SYSTEM,
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
}


class PartIn(LenientIn):
    """A part of a message. Parts of other types, such as images, are refused."""

    type: str
    text: Text


class TextPartIn(PartIn):
    type: Literal["text"]


class TurnIn(LenientIn):
    """A message whose parts are of the types `kinds`. Fields of answers that clients send back, such as `annotations`,
    are ignored.
    """

    kinds: ClassVar[tuple[str, ...]] = ()

    role: Literal["system", "developer", "user", "assistant"]
    content: Text | Sequence[PartIn] | None = None

    @field_validator("role", mode="before")
    @classmethod
    def _check_role(cls, role: Any) -> Any:
        if role in ("tool", "function"):
            raise ValueError(f"messages of the role {role!r} are refused: this server calls no tools")
        return role

    @field_validator("content", mode="before")
    @classmethod
    def _check_parts(cls, content: Any) -> Any:
        parts = content if isinstance(content, list) else []
        for part in parts:
            kind = part.get("type") if isinstance(part, dict) else None
            if isinstance(kind, str) and kind not in cls.kinds:
                raise ValueError(f"parts of type {kind[:40]!r} are refused: this server reads text; leave them out")
        return content

    def to_message(self) -> Message:
        """Returns the message with its parts as one text."""
        content = self.content or ""
        text = content if isinstance(content, str) else "\n".join(part.text for part in content)
        return Message(speaker=_SPEAKERS[self.role], content=text)


class ChatMessageIn(TurnIn):
    """A message. Fields of answers that clients send back, such as `annotations`, are ignored."""

    kinds = ("text",)

    content: Text | list[TextPartIn] | None = None


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
        raise InvalidInput("the last of the messages is not a message of the user; end them with the question")
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
