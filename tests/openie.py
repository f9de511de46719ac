"""Answers of a model that is asked for names and statements, made from the passage in its prompt."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from core.ports.chat import ChatModels
from core.settings import LlmSettings
from core.text.name_spans import find_names
from models import make_chat_models
from tests.twins.chat_server import Call, ChatServer, Reply

__all__ = ["chat_models", "names_of", "openie", "passage_of"]

_PASSAGE = re.compile(r"<passage>\n(.*?)\n</passage>", re.DOTALL)


def passage_of(call: Call) -> str:
    """The passage that the last prompt holds."""
    found = _PASSAGE.search(call.messages[1]["content"])
    assert found, call.text
    return found[1]


def names_of(text: str) -> Mapping[str, Any]:
    """Its capitalised names, and a statement about each two that follow one another."""
    names = list(dict.fromkeys(span.form for span in find_names(text)))
    return {"entities": names, "triples": [[a, "is named before", b] for a, b in pairwise(names)]}


def openie(call: Call) -> Reply:
    return Reply.json(names_of(passage_of(call)))


@asynccontextmanager
async def chat_models(server: ChatServer, *, concurrency: int = 8, model: str = "twin") -> AsyncIterator[ChatModels]:
    """The configured models, all at the server, which is told each call's role; nothing is tried again or cached."""
    settings = LlmSettings(
        base_url=server.url, model=model, send_metadata=True, retries=0, concurrency=concurrency, cache=False
    )
    models = make_chat_models(settings, None, None)
    try:
        yield models
    finally:
        await models.close()
