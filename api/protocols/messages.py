"""Messages as OpenAI's and Ollama's clients send them: a string, or parts of text."""

from typing import Any, Literal

from pydantic import field_validator

from api.schemas.base import LenientIn, Text
from core.ports.chat import Message, Speaker

__all__ = ["ChatMessageIn", "TextPartIn"]

_SPEAKERS = {
    "system": Speaker.SYSTEM,
    "developer": Speaker.SYSTEM,
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
}


class TextPartIn(LenientIn):
    """A part of a message. Parts of other types, such as images, are refused."""

    type: Literal["text"]
    text: Text


class ChatMessageIn(LenientIn):
    """A message. Fields of answers that clients send back, such as `annotations`, are ignored."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Text | list[TextPartIn] | None = None

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
            if isinstance(kind, str) and kind != "text":
                raise ValueError(f"parts of type {kind[:40]!r} are refused: this server reads text; leave them out")
        return content

    def to_message(self) -> Message:
        """Returns the message with its parts as one text."""
        content = self.content or ""
        text = content if isinstance(content, str) else "\n".join(part.text for part in content)
        return Message(speaker=_SPEAKERS[self.role], content=text)
