"""Requests to language models, as tests make them."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from core.ports.chat import ChatRequest, Message, Speaker
from core.prompting.structured import build_schema

__all__ = ["PROMPT", "Verdict", "ask"]

PROMPT = "Private passage: the launch code of the silo in Reykjavík is 4711, and nobody knows.\nWhat's the code?"


class Verdict(BaseModel):
    good: bool


def ask(
    prompt: str = PROMPT,
    *,
    role: str = "plan",
    system: str = "",
    json: bool = False,
    labels: Mapping[str, str] | None = None,
    **fields: Any,
) -> ChatRequest:
    """`json`: with the schema of a `Verdict`. `fields` are the request's others."""
    messages = (Message(speaker=Speaker.USER, content=prompt),)
    if system:
        messages = (Message(speaker=Speaker.SYSTEM, content=system), *messages)
    schema = build_schema(Verdict) if json else None
    return ChatRequest(role=role, messages=messages, prompt_hash="hash", schema=schema, labels=labels or {}, **fields)
