"""Stored questions of a server whose language model is scripted, as several tests ask and read them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from api.schemas.values import load
from core.ids import document_id
from core.settings import QuestionSettings
from hopweave.wire.questions import StoredQuestion
from tests.integration.api.asking import QUESTION, asking
from tests.integration.api.conftest import Server
from tests.twins.chat_server import ChatServer, Reply

__all__ = ["ADA_PATH", "ANSWER", "PATH", "Json", "ask", "done", "get", "serving", "until_retrieved", "wait"]

ANSWER = Reply.json({"answer": "Ada Lovelace wrote it [1].", "support": "stated", "unstated": ""})
PATH = "/v1/corpora/people/questions"
ADA_PATH = f"/v1/corpora/people/documents/{document_id('ada')}"
Json = dict[str, Any]


@asynccontextmanager
async def serving(folder: Path, chat: ChatServer, **settings: Any) -> AsyncIterator[Server]:
    async with asking(folder, chat, questions=QuestionSettings(**settings)) as server:
        yield server


async def ask(server: Server, **more: Any) -> str:
    answer = await server.client.post(PATH, json={"question": QUESTION, "k": 2, **more})
    assert answer.status_code == 202, answer.text
    made = answer.json()
    assert answer.headers["location"] == f"{PATH}/{made['id']}"
    assert (made["state"], made["answer"]) == ("running", None)
    return str(made["id"])


async def get(server: Server, id: str) -> Json:
    answer = await server.client.get(f"{PATH}/{id}")
    assert answer.status_code == 200, answer.text
    load(StoredQuestion, answer.json())
    found: Json = answer.json()
    return found


async def wait(server: Server, id: str) -> Json:
    """Waits as a follower does: a stream ends when the question has ended."""
    await server.client.get(f"{PATH}/{id}/events")
    return await get(server, id)


async def done(server: Server, **more: Any) -> Json:
    found = await wait(server, await ask(server, **more))
    assert found["state"] == "done", found
    return found


async def until_retrieved(server: Server, id: str) -> None:
    """Waits until the record has what a running question has retrieved."""
    corpus = await server.container.record.corpora.get("people")
    async with asyncio.timeout(30):
        while not await server.container.record.questions.list_sources(corpus.id, id):  # noqa: ASYNC110 - a row
            await asyncio.sleep(0.02)
