"""Prompts of a folder in place of ours: in questions, searches and extraction, and in all that is keyed by them."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.prompting.prompts import PromptLibrary
from core.settings import Settings
from evaluation.answering import fingerprint_answers
from tests.integration.api.asking import ASK, KEY, QUESTION, asking
from tests.integration.api.conftest import ADA, Server
from tests.twins.chat_server import Call, ChatServer, Reply

_WORDS = "Speak like a pirate."
_CONCLUDE = f"{_WORDS}\n{{{{support}}}}\n{{{{instructions}}}}\n--- user ---\n{{{{passages}}}}\n{{{{question}}}}"
_OPENIE = f"{_WORDS}\n--- user ---\n{{{{title}}}}\n{{{{passage}}}}"


def _respond(call: Call) -> Reply:
    if "triples" in json.dumps(call.body["response_format"]):
        return Reply.json({"entities": ["Ada Lovelace"], "triples": []})
    return Reply.json({"answer": "Ada [1]", "support": "stated", "unstated": ""})


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=_respond) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "conclude.md").write_text(_CONCLUDE, "utf-8")
    (folder / "openie.md").write_text(_OPENIE, "utf-8")
    return folder


@pytest.fixture
async def people(tmp_path: Path, chat: ChatServer, folder: Path) -> AsyncIterator[Server]:
    async with asking(tmp_path, chat, prompts_dir=folder) as server:
        yield server


async def test_a_question_is_asked_with_them_and_cached_under_their_words(people: Server, chat: ChatServer) -> None:
    theirs = people.container.prompts
    for prompts in (theirs, PromptLibrary(), theirs):
        people.container.prompts = prompts
        assert (await people.client.post(ASK, json={"question": QUESTION})).json()["answer"] == "Ada [1]"
    assert [_WORDS in call.text for call in chat.calls] == [True, False]


async def test_rows_of_an_evaluation_go_by_their_words(people: Server) -> None:
    corpus = await people.container.record.corpora.get("people")

    def fingerprint() -> str:
        return fingerprint_answers(
            people.container, corpus, None, "vanilla", over=None, k=None, web=False, unsupported="infer"
        )

    theirs = fingerprint()
    people.container.prompts = PromptLibrary()
    assert fingerprint() != theirs


async def test_a_worker_extracts_with_them_and_the_corpus_knows_their_version(people: Server, chat: ChatServer) -> None:
    await people.corpus("facts", extractor="llm")
    await people.ingest(ADA, corpus="facts")
    assert [_WORDS in call.text for call in chat.calls] == [True]
    settings = (await people.container.record.corpora.get("facts")).settings
    assert settings.versions["extractor"].endswith(f",{people.container.prompts.replaced['openie'].hash})")


def test_an_empty_setting_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_PROMPTS_DIR", "")
    assert Settings().prompts_dir is None
