"""`hopweave mcp` beside a server on the data folder, and its options. `tests/e2e/test_mcp.py` speaks to the command."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from app.container import Container
from cli.flows.mcp import FolderQuestions, find_address
from core.errors import InvalidInput, NotFound
from core.settings import read_settings
from tests.integration.cli.conftest import Hopweave, use_model
from tests.integration.cli.test_folder_server import serving
from tests.twins.chat_server import ChatServer, Reply

_ANSWER = {"answer": "Ada Lovelace wrote it [1].", "support": "stated", "unstated": ""}
_NO_CONTAINER = cast("Container", None)
"""A question that is answered in this process fails on it."""


@pytest.fixture
def chat(corpus: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:  # noqa: ARG001 - it sets the folder
    with ChatServer(respond=lambda _: Reply.json(_ANSWER)) as chat:
        use_model(monkeypatch, chat)
        monkeypatch.setenv("HOPWEAVE_REASONER", "vanilla")
        yield chat


async def test_the_server_of_the_folder_answers(corpus: str, chat: ChatServer) -> None:
    told: list[str] = []

    def listen(kind: str, _data: Mapping[str, Any]) -> None:
        told.append(kind)

    with serving():
        questions = FolderQuestions(read_settings(), _NO_CONTAINER)
        found = await questions.search(corpus, {"query": "Who wrote the first program?", "k": 1})
        assert len(found["hits"]) == 1
        answer = await questions.ask(corpus, {"question": "Who wrote the first program?"}, listen)
        assert answer["answer"].startswith("Ada Lovelace wrote it")
        assert "search" in told
        with pytest.raises(NotFound, match="nowhere"):
            await questions.search("nowhere", {"query": "Ada"})
        with pytest.raises(InvalidInput, match="near"):
            await questions.search(corpus, {"query": "Ada", "filter": {"year": {"$near": 1}}})
    assert len(chat.calls) == 1


async def test_links_lead_to_the_server_of_the_folder(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert corpus
    assert find_address(read_settings()) == ""
    with serving(address="http://127.0.0.1:8123"):
        assert find_address(read_settings()) == "http://127.0.0.1:8123"
        monkeypatch.setenv("HOPWEAVE_SEARCHER", "dense")
        assert find_address(read_settings()) == "http://127.0.0.1:8123", "also with other settings than the server's"


async def test_a_cancelled_question_ends_in_the_server(corpus: str, chat: ChatServer) -> None:
    chat.respond = lambda _: replace(Reply.json(_ANSWER), stall=True)
    with serving():
        questions = FolderQuestions(read_settings(), _NO_CONTAINER)
        asking = asyncio.create_task(questions.ask(corpus, {"question": "Who wrote it?"}, lambda *_: None))
        await chat.until(lambda: chat.calls)
        asking.cancel()
        await chat.until(lambda: chat.hung_up)


@pytest.mark.usefixtures("chat")
async def test_a_server_with_other_settings_is_not_asked(corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving():
        monkeypatch.setenv("HOPWEAVE_SEARCHER", "dense")
        settings = read_settings()
        container = Container(settings)
        try:
            found = await FolderQuestions(settings, container).search(corpus, {"query": "Ada", "k": 1})
        finally:
            await container.close()
    assert len(found["hits"]) == 1


def test_the_root_is_a_folder(hopweave: Hopweave) -> None:
    ran = hopweave("mcp", "--root", "no-such-folder")
    assert ran.code == 2
    assert "--root 'no-such-folder'" in ran.err
