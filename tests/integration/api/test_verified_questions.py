"""Stored questions whose answers are verified in the background: found again, limited, ended and withdrawn."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api.schemas.values import load
from app.container import Container
from core.ids import document_id
from core.settings import LlmSettings, QuestionSettings, Settings
from hopweave.wire.questions import StoredQuestion
from tests.integration.api.conftest import Server
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.embedder import TwinEmbedder

_QUESTION = "Who taught mathematics to Ada Lovelace?"
_ANSWER = "Augustus De Morgan"
_PATH = "/v1/corpora/lessons/questions"
_LETTERS = {"key": "letters", "text": "Augustus De Morgan taught Ada Lovelace mathematics by letter."}
_COPY = {"key": "copy", "text": "Mathematics was taught to Ada Lovelace by Augustus De Morgan."}
Json = dict[str, Any]


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(respond=good_model(_ANSWER, _QUESTION)) as server:
        yield server


@pytest.fixture
async def server(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    llm = LlmSettings(base_url=chat.url, model="twin", retries=0, send_metadata=True)
    limits = QuestionSettings(max_running=1)
    container = Container(Settings(data_dir=tmp_path, llm=llm, reasoner="vanilla", questions=limits))
    container.embedder = TwinEmbedder()
    server = Server(container)
    await server.corpus("lessons")
    await server.ingest(_LETTERS, _COPY, corpus="lessons")
    yield server
    await server.close()


async def _ask(server: Server, **more: Any) -> Json:
    """Asks, and returns the question when it is answered."""
    made = await server.client.post(_PATH, json={"question": _QUESTION, **more})
    assert made.status_code == 202, made.text
    path = f"{_PATH}/{made.json()['id']}"
    await server.client.get(f"{path}/events")
    return await _get(server, made.json()["id"])


async def _get(server: Server, id: str) -> Json:
    answer = await server.client.get(f"{_PATH}/{id}")
    assert answer.status_code == 200, answer.text
    load(StoredQuestion, answer.json())
    found: Json = answer.json()
    return found


async def _until(server: Server, id: str, holds: Callable[[Json], Any]) -> Json:
    """Reads the question until something holds of it."""
    async with asyncio.timeout(60):
        while True:
            found = await _get(server, id)
            if holds(found):
                return found
            await asyncio.sleep(0.05)


async def _verified(server: Server, id: str) -> Json:
    """Waits until the answer is verified, and another one may be: its turn ends a moment after its result is stored."""
    found = await _until(server, id, lambda found: found["verification"] or found["verification_problem"])
    async with asyncio.timeout(60):
        while id in server.app.state.questions._verifications._askers:  # noqa: ASYNC110 - a task of the server
            await asyncio.sleep(0.01)
    return found


async def test_the_verification_is_found_at_the_address_of_the_question(server: Server) -> None:
    asked = await _ask(server)
    assert (asked["verification"], asked["verifying"], asked["verification_problem"]) == (None, None, None)
    begun = await server.client.post(f"{_PATH}/{asked['id']}/verify", json={})
    assert begun.status_code == 202, begun.text
    found = await _verified(server, asked["id"])
    assert found["verifying"] is None
    cited = {citation["document"]["key"] for citation in asked["answer"]["citations"]}
    roles = {one["document"]["key"]: one["role"] for one in found["verification"]["documents"]}
    assert roles == dict.fromkeys(cited, "redundant")
    both = sorted(document_id(key) for key in ("letters", "copy"))
    assert [sorted(group) for group in found["verification"]["together"]] == [both]
    assert found["answer"] == asked["answer"], "the answer is the one that was verified"
    refused = await server.client.post(f"{_PATH}/{asked['id']}/verify", json={"budget": {"calls": 10_000}})
    assert (refused.status_code, "budget.calls" in refused.json()["detail"]) == (422, True)
    at_once = await _ask(server, verify=True)
    assert (await _verified(server, at_once["id"]))["verification"]["documents"]


async def test_how_far_it_is_can_be_read_while_it_runs(server: Server, chat: ChatServer) -> None:
    asked = await _ask(server)
    other = await _ask(server, instructions="Be brief.")
    goes_on = threading.Event()
    good = good_model(_ANSWER, _QUESTION)

    def respond(call: Call) -> Reply:
        goes_on.wait(60)
        return good(call)

    chat.respond = respond
    try:
        await server.client.post(f"{_PATH}/{asked['id']}/verify")
        running = (await _until(server, asked["id"], lambda found: found["verifying"]))["verifying"]
        assert running["documents"] == []
        if running["cost"] is not None:
            assert running["cost"] == asked["answer"]["verification_cost"]
        again = await server.client.post(f"{_PATH}/{asked['id']}/verify")
        assert again.status_code == 202, "a repeated call changes nothing"
        limited = await server.client.post(f"{_PATH}/{other['id']}/verify")
        assert limited.status_code == 429, limited.text
        assert "HOPWEAVE_QUESTIONS__MAX_RUNNING" in limited.json()["detail"]
    finally:
        goes_on.set()
    assert (await _verified(server, asked["id"]))["verification"]
    assert (await server.client.post(f"{_PATH}/{other['id']}/verify")).status_code == 202
    assert (await _verified(server, other["id"]))["verification"]


async def test_a_server_that_ends_says_so(server: Server, chat: ChatServer) -> None:
    asked = await _ask(server)
    goes_on = threading.Event()

    def respond(call: Call) -> Reply:
        goes_on.wait(60)
        return good_model(_ANSWER, _QUESTION)(call)

    chat.respond = respond
    try:
        await server.client.post(f"{_PATH}/{asked['id']}/verify")
        await _until(server, asked["id"], lambda found: found["verifying"])
        await server.app.state.questions.close()
    finally:
        goes_on.set()
    found = await _get(server, asked["id"])
    assert found["verification_problem"]["detail"].startswith("the server ended while the answer was verified")
    assert found["answer"] == asked["answer"]


async def test_a_model_that_fails_is_told_and_it_can_be_tried_again(server: Server, chat: ChatServer) -> None:
    asked = await _ask(server)
    chat.respond = lambda _: Reply(status=400, text="out of order")
    await server.client.post(f"{_PATH}/{asked['id']}/verify")
    found = await _verified(server, asked["id"])
    if found["verification"]:  # a document whose run failed is unclear
        assert {one["role"] for one in found["verification"]["documents"]} == {"unclear"}
    chat.respond = good_model(_ANSWER, _QUESTION)
    assert (await server.client.post(f"{_PATH}/{asked['id']}/verify", json={})).status_code == 202

    def is_known(found: Json) -> bool:
        return bool(found["verification"]) and found["verification"]["documents"][0]["role"] == "redundant"

    await _until(server, asked["id"], is_known)


async def test_a_deleted_document_that_was_only_retrieved_withdraws_the_answer(server: Server) -> None:
    asked = await _ask(server, k=1)
    [cited] = {citation["document"]["key"] for citation in asked["answer"]["citations"]}
    [other] = {"letters", "copy"} - {cited}
    await server.client.post(f"{_PATH}/{asked['id']}/verify", json={})
    await _verified(server, asked["id"])
    await server.client.delete(f"/v1/corpora/lessons/documents/{document_id(other)}")
    found = await _get(server, asked["id"])
    assert (found["withdrawn"], found["answer"], found["verification"]) == (True, None, None)
    refused = await server.client.post(f"{_PATH}/{asked['id']}/verify", json={})
    assert refused.status_code == 409, refused.text
    assert "no answer to verify" in refused.json()["detail"]


async def test_two_calls_at_once_verify_once(server: Server) -> None:
    asked = await _ask(server)
    path = f"{_PATH}/{asked['id']}/verify"
    begun = await asyncio.gather(*(server.client.post(path, json={}) for _ in range(3)))
    assert [one.status_code for one in begun] == [202] * 3, [one.text for one in begun]
    assert (await _verified(server, asked["id"]))["verification"]


async def test_verifications_that_follow_their_questions_are_limited_too(server: Server, chat: ChatServer) -> None:
    goes_on, good = threading.Event(), good_model(_ANSWER, _QUESTION)
    seen = list[Call]()

    def respond(call: Call) -> Reply:
        if "Be brief." in str(call.messages):
            seen.append(call)
            if len(seen) > 1:
                goes_on.wait(60)
        return good(call)

    chat.respond = respond
    try:
        first = await _ask(server, instructions="Be brief.", verify=True)
        await _until(server, first["id"], lambda found: found["verifying"])
        second = await _ask(server, verify=True)
        assert second["answer"]
        problem = (await _verified(server, second["id"]))["verification_problem"]
        assert (problem["status"], "HOPWEAVE_QUESTIONS__MAX_RUNNING" in problem["detail"]) == (429, True)
    finally:
        goes_on.set()
    await _verified(server, first["id"])
    assert (await server.client.post(f"{_PATH}/{second['id']}/verify")).status_code == 202
    await _until(server, second["id"], lambda found: found["verification"])


@pytest.mark.parametrize("deletes", ["question", "document"])
async def test_nothing_is_asked_any_more_for_an_answer_that_is_gone(
    server: Server, chat: ChatServer, deletes: str
) -> None:
    asked = await _ask(server)
    chat.respond = lambda _: Reply(stall=True)
    await server.client.post(f"{_PATH}/{asked['id']}/verify")
    await _until(server, asked["id"], lambda found: found["verifying"])
    gone = {"question": f"{_PATH}/{asked['id']}", "document": f"/v1/corpora/lessons/documents/{document_id('letters')}"}
    await server.client.delete(gone[deletes])
    async with asyncio.timeout(30):
        while any(asked["id"] in task.get_name() for task in asyncio.all_tasks()):  # noqa: ASYNC110 - a task
            await asyncio.sleep(0.05)
