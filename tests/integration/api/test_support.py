"""What answers stand on, and what is done with those that no passage states, over HTTP and from Python."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import hopweave
from core.ports.reasoning import Unsupported
from tests.integration.api.asking import ASK, KEY, QUESTION, asking, events
from tests.integration.api.conftest import BASE, Server
from tests.twins.chat_server import ChatServer, Reply

_INFERRED = Reply.json({"answer": "Ada Lovelace [1]", "support": "inferred", "unstated": "that it was the first"})
_NOTE = "This answer is inferred; the passages do not state it. Not stated: that it was the first."
_REMEMBERED = Reply.json({"answer": "Grace Hopper", "support": "memory", "unstated": "all of it"})


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=lambda _: _INFERRED) as server:
        yield server


@pytest.fixture
async def people(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    async with asking(tmp_path, chat) as server:
        yield server


async def _ask(server: Server, **fields: Any) -> dict[str, Any]:
    response = await server.client.post(ASK, json={"question": QUESTION, **fields})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def test_an_inferred_answer_is_given_with_the_reason_unless_a_request_abstains(people: Server) -> None:
    answer = await _ask(people)
    assert (answer["answer"], answer["support"], answer["abstained"]) == ("Ada Lovelace [1]", "inferred", False)
    assert answer["note"] == _NOTE
    [step] = answer["steps"]
    assert (step["support"], step["unstated"]) == ("inferred", "that it was the first")
    answer = await _ask(people, unsupported="abstain")
    assert (answer["support"], answer["abstained"], answer["citations"]) == ("none", True, [])
    assert "Ada" not in answer["answer"]
    assert answer["note"] == "Not stated: that it was the first."
    response = await people.client.post(ASK, json={"question": QUESTION, "unsupported": "guess"})
    assert (response.status_code, "unsupported" in response.json()["detail"]) == (422, True)


async def test_an_answer_from_memory_is_given_only_if_permitted(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: _REMEMBERED
    for unsupported, given in (("infer", False), ("abstain", False), ("memory", True)):
        answer = await _ask(people, unsupported=unsupported)
        assert (answer["support"] == "memory", answer["abstained"]) == (given, not given)
        assert ("Hopper" in answer["answer"]) is given
        assert answer["citations"] == []


async def test_the_default_is_a_setting_that_requests_may_change(tmp_path: Path, chat: ChatServer) -> None:
    async with asking(tmp_path, chat, unsupported=Unsupported.ABSTAIN) as server:
        assert (await _ask(server))["abstained"]
        assert (await _ask(server, unsupported=None))["abstained"]
        assert not (await _ask(server, unsupported="infer"))["abstained"]


async def test_events_have_it_too_and_what_may_be_withheld_is_not_streamed(people: Server) -> None:
    body = {"question": QUESTION, "stream": True}
    told = events((await people.client.post(ASK, json=body)).text)
    step = next(one.data for one in told if one.event == "step")
    assert (step["support"], step["unstated"]) == ("inferred", "that it was the first")
    assert (told[-1].data["support"], told[-1].data["note"]) == ("inferred", _NOTE)
    written = "".join(one.data["text"] for one in told if one.event == "token")
    assert written == "Ada Lovelace [1]"
    told = events((await people.client.post(ASK, json={**body, "unsupported": "abstain"})).text)
    assert not [one for one in told if one.event == "token"]
    assert told[-1].data["abstained"]


async def test_from_python(people: Server) -> None:
    transport = httpx.ASGITransport(app=people.app)
    async with hopweave.connect_async(BASE, transport=transport) as client:
        answer = await client.ask("people", QUESTION)
        assert (answer.support, answer.note, answer.steps[0].support) == ("inferred", _NOTE, "inferred")
        assert (await client.ask("people", QUESTION, unsupported="abstain")).abstained
        steps = [one async for one in client.ask_events("people", QUESTION) if isinstance(one, hopweave.StepEvent)]
        assert steps[0].unstated == "that it was the first"
